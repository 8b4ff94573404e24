/** Makes timers for code that must not keep the run alive: they wait only as long as something else holds the run. */
import { promisify } from 'node:util';

export interface Timers {
  readonly globals: Readonly<Record<string, unknown>>;
  /** Keeps the process alive until `release` was called as often. */
  hold(): void;
  release(): void;
  /** Ends all timers that are left. */
  stop(): void;
}

const LONG_MS = 2 ** 30;

type Callback = (...args: unknown[]) => unknown;

export function createTimers(onError: (error: unknown) => void): Timers {
  const timeouts = new Set<NodeJS.Timeout>();
  const immediates = new Set<NodeJS.Immediate>();
  let holders = 0;
  let holder: NodeJS.Timeout | undefined;

  /** A throwing callback has no caller that could catch, so it would end the process. */
  const guarded = (callback: Callback, args: unknown[]): void => {
    try {
      callback(...args);
    } catch (error) {
      onError(error);
    }
  };
  const later = (callback: Callback, ms?: number, ...args: unknown[]): NodeJS.Timeout => {
    const timer = setTimeout(() => {
      timeouts.delete(timer);
      guarded(callback, args);
    }, ms).unref();
    timeouts.add(timer);
    return timer;
  };
  const repeatedly = (callback: Callback, ms?: number, ...args: unknown[]): NodeJS.Timeout => {
    const timer = setInterval(() => guarded(callback, args), ms).unref();
    timeouts.add(timer);
    return timer;
  };
  const soon = (callback: Callback, ...args: unknown[]): NodeJS.Immediate => {
    const immediate = setImmediate(() => {
      immediates.delete(immediate);
      guarded(callback, args);
    });
    immediates.add(immediate);
    return immediate;
  };
  const forget = (timer: NodeJS.Timeout | undefined): void => {
    if (timer) timeouts.delete(timer);
    clearTimeout(timer);
  };
  Object.defineProperty(later, promisify.custom, {
    value: (ms?: number, value?: unknown) => new Promise((resolve) => later(() => resolve(value), ms)),
  });
  Object.defineProperty(soon, promisify.custom, { value: (value?: unknown) => new Promise((resolve) => soon(() => resolve(value))) });

  return {
    globals: {
      setTimeout: later,
      setInterval: repeatedly,
      setImmediate: soon,
      clearTimeout: forget,
      clearInterval: forget,
      clearImmediate: (immediate: NodeJS.Immediate | undefined) => {
        if (immediate) immediates.delete(immediate);
        clearImmediate(immediate);
      },
    },
    hold() {
      if (holders++ === 0) holder = setInterval(() => undefined, LONG_MS);
    },
    release() {
      if (--holders === 0) clearInterval(holder);
    },
    stop() {
      for (const timer of timeouts) clearTimeout(timer);
      for (const immediate of immediates) clearImmediate(immediate);
      timeouts.clear();
      immediates.clear();
    },
  };
}
