/** What a user can cause; all else is a broken invariant of ours, and nobody catches it. */
import { MlldError } from '../errors.js';
import { WorldError } from '../world/world.js';

export function isUserError(error: unknown): error is MlldError {
  if (error instanceof MlldError) return true;
  if (error instanceof WorldError) return true;
  const { code, name } = error as { code?: unknown; name?: unknown };
  return (name === 'ReplayError' || name === 'JournalError') && typeof code === 'string';
}
