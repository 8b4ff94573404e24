/**
 * A hook that never ends must not hold up the operation it watches.
 *
 * T1  One sleeper at a time watches all bodies that run: their limits are equal, so the oldest is always the next to pass.
 * T2  The sleep is asked of the world directly. It is no answer that a script could see, so it is no fact of the run. While no body runs
 *     it keeps no process alive.
 * T3  The operation goes on before the body is told to end: what that makes of the body is nobody's result.
 * T4  A body that ends after its time has failed, although no sleeper could say so: code in this process didn't give way. Mostly the world
 *     breaks into that when the time is over (`world/process/interruptible.ts`).
 * T5  In a replay a body's time is over when it was then, and whatever else came of the body is not looked at.
 */
import { MlldError } from '../errors.js';
import type { RunState } from '../runtime/frame.js';
import { HookDeadline } from '../runtime/hook-deadline.js';
import type { TimerHandle } from '../world/world.js';

type Ports = Pick<RunState, 'world' | 'monotonicMs'> & { readonly settings: Pick<RunState['settings'], 'hookLimitMs'> };

/**
 * Throws HOOK_TIMEOUT when the work takes longer than the limit of hooks, and tells it to end. `timeOut`: in a replay; resolves with the
 * message when its time is over, and nothing else ends it (T5).
 */
export type WithinLimit = <T>(work: (ending: HookDeadline) => Promise<T>, run: Ports, timeOut?: Promise<string>) => Promise<T>;

export function createTimeLimit(): WithinLimit {
  const running = new Set<{ readonly endMs: number; expire(): void }>();
  let watched = false;
  let timer: TimerHandle | undefined;
  const onTimer = (made: TimerHandle): void => void (timer = made);

  async function watch({ world, monotonicMs }: Ports): Promise<void> {
    watched = true;
    for (let [oldest] = running; oldest; [oldest] = running) {
      await world.perform('clock.sleep', { ms: Math.max(0, oldest.endMs - monotonicMs()) }, { onTimer });
      if (running.delete(oldest)) oldest.expire();
    }
    watched = false;
  }

  return (work, run, timeOut) =>
    new Promise((resolve, reject) => {
      const { hookLimitMs } = run.settings;
      const endMs = run.monotonicMs() + hookLimitMs;
      const ending = new HookDeadline(() => endMs - run.monotonicMs());
      const expire = (message: string): void => {
        reject(new MlldError('HOOK_TIMEOUT', message)); // T3
        ending.expire();
      };
      if (timeOut) {
        void timeOut.then(expire);
        work(ending).catch(() => undefined); // T5
        return;
      }
      const entry = { endMs, expire: () => expire(`it did not end within ${hookLimitMs / 1000} seconds`) };
      running.add(entry);
      if (running.size === 1) timer?.ref();
      work(ending)
        .then(
          (value) => (ending.isOver ? entry.expire() : resolve(value)),
          (error: unknown) => (ending.isOver ? entry.expire() : reject(error)),
        ) // T4
        .finally(() => {
          running.delete(entry);
          if (running.size === 0) timer?.unref();
        });
      // A world that is closed ends the run, and with it every body.
      if (!watched) watch(run).catch(() => undefined);
    });
}
