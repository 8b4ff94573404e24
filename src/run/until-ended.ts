/** What every run lives in: a world that is closed behind it, and a signal that says when it has to end, and why. */
import type { RunStatus } from '../../journal/event.js';
import type { RunOptions } from '../run-options.js';
import { createLiveWorld } from '../world/live.js';
import type { World } from '../world/world.js';
import { isUsersError } from './users-error.js';
import { withoutSealingKey } from './sealing-key.js';

/** What ends a run from outside: the reason that its signal is aborted with. */
export type EndedBy = Extract<RunStatus, 'interrupted' | 'timed-out'>;

type Surroundings = Pick<RunOptions, 'environment' | 'io' | 'signal' | 'timeoutMs'>;

/**
 * `worldEnds`: what is asked of the world is refused once the run has to end. Otherwise only who listens to the signal notices.
 * An error that a user can cause is the result; any other is thrown.
 */
export async function untilEnded<R>(
  { environment, io, signal, timeoutMs }: Surroundings,
  worldEnds: boolean,
  work: (world: World, ending: AbortSignal) => Promise<R>,
): Promise<R | { readonly status: 'failed'; readonly error: unknown }> {
  const ending = new AbortController();
  const end = (reason: EndedBy): void => ending.abort(reason);
  const onSignal = (): void => end('interrupted');
  signal.addEventListener('abort', onSignal);
  if (signal.aborted) onSignal();
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => end('timed-out'), timeoutMs);
  const world = createLiveWorld({
    ...io,
    environment: withoutSealingKey(environment),
    ...(worldEnds ? { signal: ending.signal } : {}),
  });
  try {
    return await work(world, ending.signal);
  } catch (error) {
    if (!isUsersError(error)) throw error;
    return { status: 'failed', error };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onSignal);
    await world.close('the run has ended');
  }
}
