/** Reads the same again and again: less often where a reading takes long, while it fails, and while nobody looks at the page. */
import { useEffect, useState } from 'preact/hooks';

const MS_MAX = 60_000;
/** A reading that fails costs little, and what was away is seen again soon. */
const FAILED_MS_MAX = 5000;
/** The rest after a reading is this multiple of the time that it took. */
const REST_FACTOR = 10;
/** A server that does not answer for so long counts as away. */
const ANSWER_MS_MAX = 30_000;

export interface Polled<T> {
  readonly value: T | undefined;
  /** Empty while readings succeed. */
  readonly problem: string;
}

/** `key` says what is read. Until another one was read for the first time, the value of the last one is shown. */
export function usePolled<T>(key: string, everyMs: (value: T | undefined) => number, read: (signal: AbortSignal) => Promise<T>): Polled<T> {
  const [polled, setPolled] = useState<Polled<T>>({ value: undefined, problem: '' });
  useEffect(() => {
    const closing = new AbortController();
    let wake = (): void => undefined;
    let failures = 0;
    const wakeUp = (): void => {
      if (!document.hidden) wake();
    };
    const poll = async (): Promise<void> => {
      let last: T | undefined;
      while (!closing.signal.aborted) {
        const sinceMs = performance.now();
        try {
          const now = await read(AbortSignal.any([closing.signal, AbortSignal.timeout(ANSWER_MS_MAX)]));
          if (closing.signal.aborted) return;
          failures = 0;
          last = now;
          // The same again draws nothing anew.
          setPolled((before) =>
            before.problem === '' && JSON.stringify(before.value) === JSON.stringify(now) ? before : { value: now, problem: '' },
          );
        } catch (error) {
          if (closing.signal.aborted) return;
          failures += 1;
          setPolled((before) => ({ value: before.value, problem: wordsOf(error) }));
        }
        const restMs =
          failures === 0
            ? Math.max(everyMs(last), (performance.now() - sinceMs) * REST_FACTOR)
            : Math.min(everyMs(last) * 2 ** failures, FAILED_MS_MAX);
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (!document.hidden) setTimeout(resolve, Math.min(restMs, MS_MAX));
        });
      }
    };
    document.addEventListener('visibilitychange', wakeUp);
    void poll();
    return () => {
      closing.abort();
      document.removeEventListener('visibilitychange', wakeUp);
      wake();
    };
  }, [key]);
  return polled;
}

function wordsOf(error: unknown): string {
  const { name, message } = error as Error;
  // Browsers have words of their own for a server that is gone.
  return name === 'TypeError' || name === 'TimeoutError' ? 'The server does not respond.' : message;
}
