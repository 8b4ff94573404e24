/** Separates errors that a user can cause from broken invariants of the program, which are never caught. */
import { MlldError, type PlacedLocation } from '../errors.js';
import { WorldError } from '../world/world.js';

/** An error that a user can cause: a `MlldError` of the run, or a `JournalError` of its store. */
export interface RunError extends Error {
  /** Stable, documented in docs/errors.md; the wording of the message may improve. */
  readonly code: string;
  readonly hint?: string | undefined;
  /** The place in a script, where there is one. */
  readonly location?: PlacedLocation | undefined;
}

export function isUserError(error: unknown): error is MlldError {
  if (error instanceof MlldError) return true;
  if (error instanceof WorldError) return true;
  const { code, name } = error as { code?: unknown; name?: unknown };
  return (name === 'ReplayError' || name === 'JournalError') && typeof code === 'string';
}
