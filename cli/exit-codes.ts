/** The exit statuses of the command. Every `--help` lists those that it may end with. */
import type { RunReport } from '../src/api/commands/script.js';
import type { Signal } from './terminal/io.js';

export const EXIT_OK = 0;
/** Every error that ends a run, a usage error, a failed validation, a journal with losses. */
export const EXIT_FAILED = 1;
/** `journal diff` could not compare. Its status 1 says that the runs differ. */
export const EXIT_NOT_COMPARED = 2;

/** The replay diverged from the record. */
export const EXIT_DIVERGED = 3;

/** The run reached its end, and calls of it are unresolved. */
const EXIT_INCOMPLETE = 4;

/** The run is paused: what is left to do waits for a provider, a budget, or a journal that can be written. */
export const EXIT_PAUSED = 5;

/** This process may not go on with its run: it was sealed, or the store went back in time. team-store.md 1. */
export const EXIT_TAKEN = 6;

/** 128 and the number of the signal, as shells report it. */
export const EXIT_AFTER_SIGNAL: { readonly [signal in Signal]: number } = { SIGHUP: 129, SIGINT: 130, SIGPIPE: 141, SIGTERM: 143 };

interface Ended {
  readonly status: RunReport['status'];
  readonly calls?: { readonly unresolved: number; readonly unresolvedInside?: number };
  /** As in the report of a pipeline. */
  readonly unresolvedBefore?: number;
  /** The calls without a result of a completed pipeline, which a resume leaves as they are. */
  readonly left?: unknown;
  readonly error?: unknown;
}

/** Returns the exit status of a run; of several that apply, the first in the table of calls.md 14.4. */
export function exitStatusOf(
  { status, calls, unresolvedBefore = 0, left, error }: Ended,
  signal: Signal | undefined,
  allowFailures: boolean,
): number {
  if (status === 'interrupted' && signal !== undefined) return EXIT_AFTER_SIGNAL[signal];
  if (status === 'paused') return isTaken(error) ? EXIT_TAKEN : EXIT_PAUSED;
  if (status !== 'completed') return EXIT_FAILED;
  const { unresolved = 0, unresolvedInside = 0 } = calls ?? {};
  const isIncomplete = unresolved + unresolvedInside + unresolvedBefore > 0 || left !== undefined;
  return isIncomplete && !allowFailures ? EXIT_INCOMPLETE : EXIT_OK;
}

/** True for a pause whose reason is that the store takes nothing of this run any more. */
function isTaken(error: unknown): boolean {
  const reason: unknown = error instanceof Error ? error.cause : undefined;
  return reason instanceof Error && 'code' in reason && (reason.code === 'STORE_SEALED' || reason.code === 'STORE_WENT_BACK');
}
