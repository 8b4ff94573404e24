/** Ends a wait at once when a signal is aborted, for work that listens to no signal itself. */
export async function untilAborted<T>(signal: AbortSignal, error: () => Error, work: PromiseLike<T>): Promise<T> {
  let onAbort: (() => void) | undefined;
  const ending = new Promise<never>((_, reject) => {
    onAbort = () => reject(error());
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([work, ending]);
  } finally {
    if (onAbort) signal.removeEventListener('abort', onAbort);
  }
}
