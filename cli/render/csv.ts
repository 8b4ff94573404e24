/** Writes rows as CSV (RFC 4180); the first line names the columns. */
import type { CallFigures } from '../../replay/fold/calls/call-counts.js';
import { visible } from './terminal-text.js';

/** The columns of counts that reports have in common; other columns may stand between the two groups. */
export const COUNT_COLUMNS = [
  'executed',
  'reused',
  'failed',
  'accepted',
  'denied',
  'notExecuted',
  'unresolved',
  'attempts',
  'retries',
] as const satisfies readonly (keyof CallFigures)[];
export const USAGE_COLUMNS = [
  'inputTokens',
  'outputTokens',
  'costUsd',
  'unpriced',
  'savedUsd',
] as const satisfies readonly (keyof CallFigures)[];

type Cell = string | number | undefined;

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/**
 * A text that a spreadsheet would take for a formula is kept from being one, and control characters are written out: its author may be a
 * model, and a file of lines is read in a terminal.
 */
function csvCell(cell: Cell): string {
  if (cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const text = visible(/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
