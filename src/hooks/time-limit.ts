/**
 * A hook that never ends must not hold up the operation it watches.
 *
 * T1  One sleeper at a time watches all bodies that run: their limits are equal, so the oldest is always the next to pass.
 * T2  The sleep is asked of the world directly. It is no answer that a script could see, so it is no fact of the run.
 */
import { MlldError } from '../errors.js';
import type { RunState } from '../language/frame.js';

const HOOK_MS_MAX = 60_000;

export type WithinLimit = <T>(work: Promise<T>, run: Pick<RunState, 'world' | 'monotonicMs'>) => Promise<T>;

export function createTimeLimit(limitMs = HOOK_MS_MAX): WithinLimit {
  const running = new Set<{ readonly endMs: number; expire(): void }>();
  let watched = false;

  async function watch({ world, monotonicMs }: Pick<RunState, 'world' | 'monotonicMs'>): Promise<void> {
    watched = true;
    for (let [oldest] = running; oldest; [oldest] = running) {
      await world.ask('clock.sleep', { ms: Math.max(0, oldest.endMs - monotonicMs()) });
      if (running.delete(oldest)) oldest.expire();
    }
    watched = false;
  }

  return (work, run) =>
    new Promise((resolve, reject) => {
      const entry = {
        endMs: run.monotonicMs() + limitMs,
        expire: () => reject(new MlldError('HOOK_TIMEOUT', `it did not end within ${limitMs / 1000} seconds`)),
      };
      running.add(entry);
      work.then(resolve, reject).finally(() => running.delete(entry));
      // A world that is closed ends the run, and with it every body.
      if (!watched) watch(run).catch(() => undefined);
    });
}
