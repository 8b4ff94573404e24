/** Ends a wait at once when the run must stop, for work that listens to no signal itself. */
import { MlldError } from '../../errors.js';

export async function untilAborted<T>(signal: AbortSignal, work: PromiseLike<T>): Promise<T> {
  let onAbort: (() => void) | undefined;
  const ending = new Promise<never>((_, reject) => {
    onAbort = () => reject(stopped());
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([work, ending]);
  } finally {
    if (onAbort) signal.removeEventListener('abort', onAbort);
  }
}

export function stopped(): MlldError {
  return new MlldError('INTERRUPTED', 'The run was interrupted');
}
