/** Limits the time of an attempt of a stage, or of one attempt of its call. graph-pipelines.md 4 (`timeout`), 6.7. */
import { StageError } from '../model/outcome.js';
import type { TimedWait } from './stage.js';

export interface TimeLimit {
  /** Aborted when the time is over, and when the walk is aborted. */
  readonly signal: AbortSignal;
  isOver(): boolean;
  /** Resolves with the work; rejects when the work does not end soon after the signal. */
  race<T>(work: Promise<T>): Promise<T>;
  lift(): void;
}

/** Work that is aborted has this long to end by itself, so that its results so far are kept. */
const GRACE_MS = 3_000;
/** A stage whose call has a limit of its own waits longer, so that the end of the call is recorded before that of the stage. */
export const GRACE_AROUND_CALL_MS = 4_000;

type LimitWait = Pick<TimedWait, 'ms'> & { readonly until: 'limit' | 'unheeded' };

/**
 * @param around aborted when the walk is; without `limitMs` nothing else ends the work
 * @param graceMs infinite for work that surely ends after the signal
 */
export function startLimit(
  wait: (about: LimitWait, lifted: AbortSignal) => Promise<void>,
  limitMs: number | undefined,
  around: AbortSignal,
  graceMs = GRACE_MS,
): TimeLimit {
  const over = new AbortController();
  const lifted = new AbortController();
  const signal = limitMs === undefined ? around : AbortSignal.any([around, over.signal]);
  const passed = (until: LimitWait['until'], ms: number): Promise<unknown> => wait({ until, ms }, lifted.signal).catch(() => undefined);
  if (limitMs !== undefined) {
    void passed('limit', limitMs).then(() => {
      if (!lifted.signal.aborted) over.abort();
    });
  }
  return {
    signal,
    isOver: () => over.signal.aborted && !around.aborted,
    race: (work) =>
      graceMs === Number.POSITIVE_INFINITY ? work : Promise.race([work, ignored(signal, lifted.signal, () => passed('unheeded', graceMs))]),
    lift: () => lifted.abort(),
  };
}

/** Returns the error of what took too long. A replay knows such an end by this text. */
export function timedOut(limitMs: number | undefined, error: unknown): StageError {
  return new StageError('transient', `timed out after ${limitMs} ms`, error instanceof StageError ? error.updates : {});
}

/** Rejects when the grace after an abort is over. Never settles once the limit is lifted. */
async function ignored(signal: AbortSignal, lifted: AbortSignal, graceIsOver: () => Promise<unknown>): Promise<never> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true, signal: lifted });
  });
  await graceIsOver();
  throw new StageError('transient', 'the stage did not end after its time limit');
}
