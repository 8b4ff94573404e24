/**
 * Recognises runs in which no workflow ran: a command about recorded results has put its event into a run of its own, or a worker has
 * recorded the calls that it executed for another run.
 */
import type { RunFile } from '../../journal/store.js';

/** `latest`, a script's name and `SCRIPT@2` pass over such a run, and it is no prior run; its id names it. */
export function isRecordOfUpkeep(file: Pick<RunFile, 'finished' | 'isSalvage' | 'isWorker'>): boolean {
  const { finished } = file;
  return finished?.cleaned === true || finished?.marked !== undefined || servesAnotherRun(file);
}

/** True for what the calls of a sealed run ended with. */
export function isSalvageRun({ finished, isSalvage }: Pick<RunFile, 'finished' | 'isSalvage'>): boolean {
  return isSalvage === true || finished?.salvages !== undefined;
}

/** True for what the calls of a sealed run ended with, and for the calls of a worker. It has cost something, other records have not. */
export function servesAnotherRun(file: Pick<RunFile, 'finished' | 'isSalvage' | 'isWorker'>): boolean {
  return isSalvageRun(file) || file.isWorker === true || file.finished?.worker !== undefined;
}
