/**
 * Limits the time of hooks: a hook that never ends must not hold up the operation that it watches.
 *
 * LIMIT-1  One sleeper at a time watches all bodies that run: their limits are equal, so the oldest is always the next to expire.
 * LIMIT-2  The sleep is an effect of the world that is not recorded, because no script can see it. While no body runs it keeps no process
 *          alive.
 * LIMIT-3  The operation continues before the body is ended: its result is not used any more.
 * LIMIT-4  A body that ends after its time has failed, although no sleeper could end it: code in this process blocked the event loop.
 *          Mostly the world interrupts that code when the time is over (`world/process/interruptible.ts`).
 * LIMIT-5  In a replay a body times out where it did in the recorded run, and any other result of the body is ignored.
 */
import { MlldError } from '../errors.js';
import type { RunState } from '../runtime/frame.js';
import { BodyDeadline } from '../runtime/body-deadline.js';
import type { TimerHandle, World } from '../world/world.js';

type Ports = Pick<RunState, 'monotonicMs'> & { readonly settings: Pick<RunState['settings'], 'hookLimitMs'> };

/**
 * Throws HOOK_TIMEOUT when the work takes longer than the limit of hooks, and ends it. `timeOut` is present in a replay: it resolves with
 * the message at the point where the work timed out, and nothing else ends it (LIMIT-5).
 */
export type WithinLimit = <T>(work: (deadline: BodyDeadline) => Promise<T>, run: Ports, timeOut?: Promise<string>) => Promise<T>;

/** `world` is that of the run: the sleeper watches bodies of all its stages, and the end of one of them must not wake it (LIMIT-1). */
export function createTimeLimit(world: Pick<World, 'perform'>): WithinLimit {
  const running = new Set<{ readonly endMs: number; expire(): void }>();
  let watched = false;
  let timer: TimerHandle | undefined;
  const onTimer = (made: TimerHandle): void => void (timer = made);

  async function watch({ monotonicMs }: Ports): Promise<void> {
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
      const deadline = new BodyDeadline(() => endMs - run.monotonicMs());
      const expire = (message: string): void => {
        reject(new MlldError('HOOK_TIMEOUT', message)); // LIMIT-3
        deadline.expire();
      };
      if (timeOut) {
        void timeOut.then(expire);
        work(deadline).catch(() => undefined); // LIMIT-5
        return;
      }
      const entry = { endMs, expire: () => expire(`it did not end within ${hookLimitMs / 1000} seconds`) };
      running.add(entry);
      if (running.size === 1) timer?.ref();
      work(deadline)
        .then(
          (value) => (deadline.isOver ? entry.expire() : resolve(value)),
          (error: unknown) => (deadline.isOver ? entry.expire() : reject(error)),
        ) // LIMIT-4
        .finally(() => {
          running.delete(entry);
          if (running.size === 0) timer?.unref();
        });
      // A world that is closed ends the run, and with it every body.
      if (!watched) watch(run).catch(() => undefined);
    });
}
