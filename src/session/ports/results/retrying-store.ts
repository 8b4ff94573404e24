/** Retries to store results while the disk takes nothing, or a database is away: what was paid for is only in memory until it is stored. */
import { codeOf, isOfStore, isUnreachable, JournalError } from '../../../../journal/errors.js';
import type { Payload } from '../../../../journal/event.js';
import type { JournalStore } from '../../../../journal/store.js';
import { JOURNAL_WAIT_MS } from '../../../../journal/writer.js';

const RETRY_FIRST_MS = 10;
const RETRY_MAX_MS = 1000;
/** A shorter outage is not reported. */
const WARN_AFTER_MS = 1000;

interface RetryOptions {
  readonly waitMs: number | undefined;
  readonly monotonicMs: () => number;
  /** If true, an error is thrown at once. */
  readonly hasGivenUp: () => boolean;
  /** Called once for all writes that wait, when the user will wonder; and without an error when all of them are stored. */
  readonly onOutage: (error: JournalError | undefined, waitMs: number) => void;
  readonly onGivenUp: (error: JournalError) => void;
}

export function retryingStore(
  store: JournalStore,
  { waitMs = JOURNAL_WAIT_MS, monotonicMs, hasGivenUp, onOutage, onGivenUp }: RetryOptions,
): JournalStore {
  let isOver = false;
  let isReported = false;
  let waiting = 0;
  const report = (error: JournalError): void => {
    if (isReported) return;
    isReported = true;
    onOutage(error, waitMs);
  };
  const ended = (): void => {
    if (--waiting > 0 || !isReported) return;
    isReported = false;
    if (!isOver) onOutage(undefined, waitMs);
  };
  /** `first` is an attempt that was begun already. */
  const retry = async <T>(work: () => T | Promise<T>, first?: Promise<T>): Promise<T> => {
    waiting++;
    try {
      return await attempts(work, first);
    } finally {
      ended();
    }
  };
  const attempts = async <T>(work: () => T | Promise<T>, first: Promise<T> | undefined): Promise<T> => {
    const beganMs = monotonicMs();
    const endMs = beganMs + waitMs;
    for (let delayMs = RETRY_FIRST_MS, begun = first; ; delayMs = Math.min(2 * delayMs, RETRY_MAX_MS), begun = undefined) {
      try {
        return await (begun ?? work());
      } catch (error) {
        if (!(error instanceof JournalError) || codeOf(error.cause) === undefined) throw error; // not an error of the disk
        const leftMs = endMs - monotonicMs();
        if (leftMs <= 0 || isOver || isFinal(error) || hasGivenUp()) {
          isOver = true;
          onGivenUp(error);
          throw error;
        }
        if (monotonicMs() - beganMs >= Math.min(WARN_AFTER_MS, waitMs / 2)) report(error);
        await new Promise((resolve) => setTimeout(resolve, Math.min(delayMs, leftMs)));
      }
    }
  };
  const changes: Partial<JournalStore> = {
    payload: (value, use): Payload | Promise<Payload> => {
      const payload = store.payload(value, use);
      return payload instanceof Promise ? retry(() => store.payload(value, use), payload) : payload;
    },
    secretPayload: (value, about) => retry(() => store.secretPayload(value, about)),
    putBlob: (content) => retry(() => store.putBlob(content)),
    packBlob: (content) => retry(() => store.packBlob(content)),
  };
  return Object.assign(Object.create(store) as JournalStore, changes);
}

/** True for what a database refuses: it refuses the same again. A disk may be repaired meanwhile, and a server come back. */
function isFinal(error: JournalError): boolean {
  return isOfStore(error) && !isUnreachable(error);
}
