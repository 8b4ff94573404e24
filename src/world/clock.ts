/** Waiting that can be called off. */
import type { Ask } from './world.js';

/** The longest time one Node timer can wait. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export interface Clock {
  readonly sleep: (request: Ask<'clock.sleep'>) => Promise<Record<string, never>>;
  /** Takes back all timers; their sleepers are told by the world. */
  readonly stop: () => void;
}

export function createClock(): Clock {
  const timers = new Set<NodeJS.Timeout>();

  function wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        resolve();
      }, ms);
      timers.add(timer);
    });
  }

  return {
    async sleep({ ms }) {
      for (let left = ms; ; left -= TIMER_MS_MAX) {
        await wait(Math.min(Math.max(left, 0), TIMER_MS_MAX));
        if (left <= TIMER_MS_MAX) return {};
      }
    },
    stop() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
