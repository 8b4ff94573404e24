/** Waits for a moment, however far away. */
import { stopped } from './durable-call.js';

/** A timer takes no more: 24.8 days. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** Throws INTERRUPTED once the signal is aborted. */
export async function waitUntil(
  moment: number,
  { nowMs, signal }: { readonly nowMs: () => number; readonly signal: AbortSignal },
): Promise<void> {
  for (let leftMs = moment - nowMs(); leftMs > 0; leftMs = moment - nowMs()) await pause(Math.min(leftMs, TIMER_MAX_MS), signal);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(stopped());
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(stopped());
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort);
  });
}
