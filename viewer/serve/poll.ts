/** Looks at the server again when something has changed: one look at a time, and no more than it bears. */

const REST_MS = 200;
/** A look that takes long (a large graph is laid out) is followed by a rest that takes longer. */
const REST_FACTOR = 3;

/** What is returned says that something has changed; what changes during a look is seen by the next one. */
export function keepLooking(signal: AbortSignal, look: () => Promise<void>): () => void {
  let isLooking = false;
  let isStale = false;
  async function go(): Promise<void> {
    isLooking = true;
    while (isStale && !signal.aborted) {
      isStale = false;
      const sinceMs = performance.now();
      await look();
      const tookMs = performance.now() - sinceMs;
      await new Promise((resolve) => setTimeout(resolve, Math.max(REST_MS, tookMs * REST_FACTOR)));
    }
    isLooking = false;
  }
  return () => {
    isStale = true;
    if (!isLooking) void go();
  };
}
