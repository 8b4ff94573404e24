/** A line that is right in the chain, and on which a reader fails: what the reader makes of it (READER-4). */
import type { JournalEvent } from '../event.js';
import type { RunRef } from '../ids.js';
import type { Defect, Position } from '../store.js';

/**
 * Returns the defect that a line is on which a visitor failed with `error`; undefined for an error that has nothing to do with the types of
 * its members.
 */
export function unfit(
  error: unknown,
  { ref, event, position }: { readonly ref: RunRef; readonly event: JournalEvent; readonly position: Position },
): Defect | undefined {
  if (!(error instanceof TypeError || error instanceof RangeError)) return undefined;
  const line = event.seq + 1; // `seq` counts the lines
  const message = `line ${line} has members of other types than this program writes, and is passed over (${error.message})`;
  return { kind: 'corrupt', run: ref, line, offset: position.offset, message };
}
