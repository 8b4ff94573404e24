/** Waits, and ends waits early. */
import type { EffectRequest, EffectOptions } from './world.js';

/** The longest time one Node timer can wait. */
export const TIMER_MAX_MS = 2 ** 31 - 1;

export interface Clock {
  readonly sleep: (request: EffectRequest<'clock.sleep'>, options: EffectOptions) => Promise<Record<string, never>>;
  /** Clears all timers. The world rejects the waits that had not ended. */
  readonly stop: () => void;
}

export function createClock(): Clock {
  const timers = new Set<NodeJS.Timeout>();

  function wait(ms: number, { signal, onTimer }: EffectOptions): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        timers.delete(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      timers.add(timer);
      onTimer?.(timer);
      signal?.addEventListener('abort', end);
    });
  }

  return {
    async sleep({ ms }, options) {
      for (let left = ms; ; left -= TIMER_MAX_MS) {
        if (options.signal?.aborted) return {};
        await wait(Math.min(Math.max(left, 0), TIMER_MAX_MS), options);
        if (left <= TIMER_MAX_MS) return {};
      }
    },
    stop() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
