/** Recognises runs in which nothing ran: a command about recorded results has put its event into a run of its own. */
import type { RunFile } from '../../journal/store.js';

/** `latest`, a script's name and `SCRIPT@2` pass over such a run, and it is no prior run; its id names it. */
export function isRecordOfUpkeep(file: Pick<RunFile, 'finished' | 'isSalvage'>): boolean {
  const { finished } = file;
  return finished?.cleaned === true || finished?.marked !== undefined || isSalvageRun(file);
}

/** True for the record of what the calls of a sealed run ended with. It has cost something, where other records of upkeep have not. */
export function isSalvageRun({ finished, isSalvage }: Pick<RunFile, 'finished' | 'isSalvage'>): boolean {
  return isSalvage === true || finished?.salvages !== undefined;
}
