/** Separates errors that a user can cause from broken invariants of the program, which are never caught. */
import { MlldError } from '../errors.js';
import { WorldError } from '../world/world.js';

export function isUserError(error: unknown): error is MlldError {
  if (error instanceof MlldError) return true;
  if (error instanceof WorldError) return true;
  const { code, name } = error as { code?: unknown; name?: unknown };
  return (name === 'ReplayError' || name === 'JournalError') && typeof code === 'string';
}
