/** Recognises the event that ends a run. Lists show of a run what that says, and read nothing else of it. */
import type { EventOf, JournalEvent } from '../event.js';

/**
 * Returns the event if it ends the run. Whoever may record can write any last line: one whose members have other types is damage, and
 * its run reads as one that crashed. A newer program may count more than numbers.
 */
export function endOfRun(last: JournalEvent | undefined): EventOf<'run.finished'> | undefined {
  if (last?.type !== 'run.finished') return undefined;
  const { status, totals, error, pause, worker, salvages } = last;
  const isFit =
    typeof status === 'string' &&
    isObject(totals) &&
    Object.entries(totals).every(([name, value]) => typeof value === (name === 'model' ? 'string' : 'number') || isObject(value)) &&
    (error === undefined || (isObject(error) && typeof error.message === 'string')) &&
    (pause === undefined || (isObject(pause) && typeof pause.message === 'string')) &&
    (worker === undefined || (isObject(worker) && typeof worker.for === 'string' && typeof worker.name === 'string')) &&
    (salvages === undefined || typeof salvages === 'string');
  return isFit ? last : undefined;
}

/** The members of lines can have other types than their declaration says. */
function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
