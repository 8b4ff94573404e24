/** A line that is right in the chain, and on which a reader fails: what the reader makes of it (READER-4). */
import type { JournalEvent } from '../event.js';
import type { RunRef } from '../ids.js';
import type { Defect, Position } from '../store.js';

/** An engine quotes the value on which an operation failed. */
const REASON_UNITS_MAX = 100;

/**
 * Visits a line. Returns its defect where the visitor failed on members of other types than the event has; throws every other error.
 */
export function visitLine(
  visit: (event: JournalEvent, position: Position) => void,
  event: JournalEvent,
  position: Position,
  ref: RunRef,
): Defect | undefined {
  try {
    visit(event, position);
    return undefined;
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    const line = event.seq + 1; // `seq` counts the lines
    const message = `line ${line} has members of other types than this program writes, and is passed over (${reasonOf(error)})`;
    return { kind: 'corrupt', run: ref, line, offset: position.offset, message };
  }
}

/** The quoted value is a text of whoever wrote the line: it begins no line of a warning, and is cut. */
function reasonOf({ message }: Error): string {
  return message.slice(0, REASON_UNITS_MAX).replaceAll(/\s+/g, ' ').trim();
}
