/** Requests data again when something has changed: one request at a time, and no more than the server can bear. */

const REST_MS = 200;
/** After a slow request (the layout of a large graph) the pause is longer. */
const REST_FACTOR = 3;

/** Returns a function that reports a change. A change during a request causes another request. */
export function pollOnChange(signal: AbortSignal, poll: () => Promise<void>): () => void {
  let isPolling = false;
  let isStale = false;
  async function go(): Promise<void> {
    isPolling = true;
    while (isStale && !signal.aborted) {
      isStale = false;
      const sinceMs = performance.now();
      await poll();
      const tookMs = performance.now() - sinceMs;
      await new Promise((resolve) => setTimeout(resolve, Math.max(REST_MS, tookMs * REST_FACTOR)));
    }
    isPolling = false;
  }
  return () => {
    isStale = true;
    if (!isPolling) void go();
  };
}
