/** Gives a run its world, and stops it on a signal, at its deadline, or when it is paused. */
import { setMaxListeners } from 'node:events';
import type { RunStatus } from '../../journal/facts/run-event.js';
import { MlldError } from '../errors.js';
import { createLiveWorld } from '../world/live.js';
import type { World } from '../world/world.js';
import { closeWorld } from './run-store.js';
import { withoutOwnSecrets } from '../world/own-secrets.js';
import type { RunOptions } from './script/run-options.js';
import { isUserError, type RunError } from './user-error.js';

/** The signal of a run is aborted with this reason, which becomes the status of the run. */
export type StopReason = Extract<RunStatus, 'interrupted' | 'timed-out' | 'paused'>;

type SupervisedOptions = Pick<RunOptions, 'environment' | 'io' | 'signal' | 'timeoutMs'>;

interface Supervision<R> {
  /**
   * `close-world`: effects are refused as soon as the run must stop. `abort-signal`: only code that listens to the signal stops, so that
   * the run can still write down how it ended.
   */
  readonly onStop: 'close-world' | 'abort-signal';
  readonly work: (world: World, signal: AbortSignal, pause: () => void) => Promise<R>;
}

/**
 * Runs `work` in a world that is closed when `work` ends. Resolves with status and error where `work` threw an error that a user can cause;
 * rejects with any other error.
 */
export async function superviseRun<R>(
  { environment, io, signal: callerSignal, timeoutMs }: SupervisedOptions,
  { onStop, work }: Supervision<R>,
): Promise<R | { readonly status: 'failed' | StopReason; readonly error: RunError }> {
  const controller = new AbortController();
  const { signal } = controller;
  setMaxListeners(0, signal); // each command in flight listens, and each restart of a pipeline: Node would warn of a leak at the eleventh
  const stop = (reason: StopReason, why: string): void => {
    if (onStop === 'close-world') void world.close(why);
    controller.abort(reason);
  };
  const timeOut = (): void => stop('timed-out', 'its time is over');
  const endMs = timeoutMs === undefined ? undefined : io.monotonicMs() + timeoutMs;
  // The timer does not fire while code of the script blocks the event loop; the world checks the deadline at its next effect.
  const deadline = endMs === undefined ? undefined : { leftMs: () => endMs - io.monotonicMs(), expire: timeOut };
  const world = createLiveWorld({ ...io, environment: withoutOwnSecrets(environment), deadline });
  const onSignal = (): void =>
    stop('interrupted', typeof callerSignal.reason === 'string' ? callerSignal.reason : 'the run was called off');
  callerSignal.addEventListener('abort', onSignal);
  if (callerSignal.aborted) onSignal();
  const timer = timeoutMs === undefined ? undefined : setTimeout(timeOut, timeoutMs);
  try {
    return await work(world, signal, () => stop('paused', 'the run is paused'));
  } catch (error) {
    if (!isUserError(error)) throw error;
    // Before the first statement runs, an interrupted effect arrives here like a failure.
    if (!signal.aborted || error.code !== 'INTERRUPTED') return { status: 'failed', error };
    const status = signal.reason as StopReason; // it is aborted with nothing else
    return { status, error: status === 'timed-out' ? timedOut(timeoutMs) : error };
  } finally {
    clearTimeout(timer);
    callerSignal.removeEventListener('abort', onSignal);
    await closeWorld(world, 'the run has ended');
  }
}

export function timedOut(timeoutMs: number | undefined): MlldError {
  return new MlldError('TIMED_OUT', `The run timed out after ${timeoutMs} ms`);
}
