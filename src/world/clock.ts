/** Waiting that can be called off. */
import type { EffectRequest, EffectOptions } from './world.js';

/** The longest time one Node timer can wait. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export interface Clock {
  readonly sleep: (request: EffectRequest<'clock.sleep'>, beside: EffectOptions) => Promise<Record<string, never>>;
  /** Takes back all timers; their sleepers are told by the world. */
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
    async sleep({ ms }, beside) {
      for (let left = ms; ; left -= TIMER_MS_MAX) {
        if (beside.signal?.aborted) return {};
        await wait(Math.min(Math.max(left, 0), TIMER_MS_MAX), beside);
        if (left <= TIMER_MS_MAX) return {};
      }
    },
    stop() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
