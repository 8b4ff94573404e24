/** What every run lives in: a world that is closed behind it, and a signal that says when it has to end, and why. */
import type { RunStatus } from '../../journal/event.js';
import { MlldError } from '../errors.js';
import type { RunOptions } from './script/run-options.js';
import { createLiveWorld } from '../world/live.js';
import type { World } from '../world/world.js';
import { isUserError } from './user-error.js';
import { withoutSealingKey } from './ports/sealing-key.js';

/** What ends a run from outside: the reason that its signal is aborted with. */
export type StopReason = Extract<RunStatus, 'interrupted' | 'timed-out' | 'paused'>;

type SupervisedOptions = Pick<RunOptions, 'environment' | 'io' | 'signal' | 'timeoutMs'>;

/**
 * `worldEnds`: what is asked of the world is refused once the run has to end. Otherwise only who listens to the signal notices.
 * An error that a user can cause is the result; any other is thrown.
 */
export async function superviseRun<R>(
  { environment, io, signal, timeoutMs }: SupervisedOptions,
  worldEnds: boolean,
  work: (world: World, ending: AbortSignal, pause: () => void) => Promise<R>,
): Promise<R | { readonly status: 'failed' | StopReason; readonly error: unknown }> {
  const ending = new AbortController();
  const end = (by: StopReason, why: string): void => {
    if (worldEnds) void world.close(why);
    ending.abort(by);
  };
  const timeOut = (): void => end('timed-out', 'its time is over');
  const endMs = timeoutMs === undefined ? undefined : io.monotonicMs() + timeoutMs;
  // The timer has no turn while code of the script doesn't give way: then the world notices.
  const deadline = endMs === undefined ? undefined : { leftMs: () => endMs - io.monotonicMs(), expire: timeOut };
  const world = createLiveWorld({ ...io, environment: withoutSealingKey(environment), ...(deadline && { deadline }) });
  const onSignal = (): void => end('interrupted', typeof signal.reason === 'string' ? signal.reason : 'the run was called off');
  signal.addEventListener('abort', onSignal);
  if (signal.aborted) onSignal();
  const timer = timeoutMs === undefined ? undefined : setTimeout(timeOut, timeoutMs);
  try {
    return await work(world, ending.signal, () => end('paused', 'the run is paused'));
  } catch (error) {
    if (!isUserError(error)) throw error;
    // Before the first statement there is nobody else who could tell the end of the run from a failure.
    if (!ending.signal.aborted || error.code !== 'INTERRUPTED') return { status: 'failed', error };
    const by = ending.signal.reason as StopReason; // it is aborted with nothing else
    return { status: by, error: by === 'timed-out' ? timedOut(timeoutMs) : error };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onSignal);
    await world.close('the run has ended');
  }
}

export function timedOut(timeoutMs: number | undefined): MlldError {
  return new MlldError('TIMED_OUT', `The run timed out after ${timeoutMs} ms`);
}
