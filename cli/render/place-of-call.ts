/** Says in a line about a call of a JavaScript workflow where its code makes it: its function, `@agent`, is that of all others. */
import { keyDigitsOf } from '../../src/api/commands/words.js';
import type { AuditEntry } from '../../src/api/reports/audit.js';
import { oneLine } from './one-line.js';
import type { Style } from './style.js';

type Op = AuditEntry['op'];

/** The call is one of a workflow script or of a program of the library: every run of them is recorded. */
export function isOfJavaScript(op: Op): boolean {
  return op !== undefined && keyDigitsOf(op) !== undefined;
}

export function placeOfCall(op: Op, site: string | undefined, style: Style): string {
  return site === undefined || !isOfJavaScript(op) ? '' : style.dim(` at ${oneLine(site)}`);
}
