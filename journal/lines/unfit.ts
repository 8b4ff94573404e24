/** A line that is right in the chain, and has members of other types: what the reader makes of it (READER-4). */
import type { JournalEvent } from '../event.js';
import type { RunRef } from '../ids.js';
import type { Defect, Position } from '../store.js';
import { unfitMember } from './member-types.js';

/** An engine quotes the value on which an operation failed. */
const REASON_UNITS_MAX = 100;

/**
 * Visits a line. Returns its defect where members that reports use have other types than the event has, which is not visited then, or
 * where the visitor failed on such a member; throws every other error.
 */
export function visitLine(
  visit: (event: JournalEvent, position: Position) => void,
  event: JournalEvent,
  position: Position,
  ref: RunRef,
): Defect | undefined {
  const member = unfitMember(event);
  if (member !== undefined) return defectOf(event, position, ref, member);
  try {
    visit(event, position);
    return undefined;
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    return defectOf(event, position, ref, reasonOf(error));
  }
}

function defectOf(event: JournalEvent, { offset }: Position, run: RunRef, reason: string): Defect {
  const line = event.seq + 1; // `seq` counts the lines
  return {
    kind: 'corrupt',
    run,
    line,
    offset,
    message: `line ${line} has members of other types than this program writes, and is passed over (${reason})`,
  };
}

/** The quoted value is a text of whoever wrote the line: it begins no line of a warning, and is cut. */
function reasonOf({ message }: Error): string {
  return message.slice(0, REASON_UNITS_MAX).replaceAll(/\s+/g, ' ').trim();
}
