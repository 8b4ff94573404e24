/** Recognises runs in which nothing ran: a command about recorded results has put its event into a run of its own. */
import type { RunFile } from '../../journal/store.js';

/** `latest`, a script's name and `SCRIPT@2` pass over such a run, and it is no prior run; its id names it. */
export function isRecordOfUpkeep({ finished }: Pick<RunFile, 'finished'>): boolean {
  return finished?.cleaned === true || finished?.marked !== undefined;
}
