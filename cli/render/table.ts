/**
 * Lays out columns as wide as their longest cell; the last one is not padded. Columns that do not fit the terminal follow below each row,
 * with their titles, where there is something in them.
 */
import { columnsOf } from '../../grammar/columns.js';
import { wrap } from './wrap.js';
import { oneLine } from './one-line.js';
import type { Style } from './style.js';

const GAP = '  ';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
}

export type Cell = string | { readonly text: string; readonly style: (text: string) => string };

/** Returns columns of numbers, aligned to the right. */
export function figures(...titles: readonly string[]): readonly Column[] {
  return titles.map((title) => ({ title, align: 'right' }));
}

/** Returns the lines of each row, without newlines; the titles first and bold. */
export function tableRows(columns: readonly Column[], rows: readonly (readonly Cell[])[], style: Style): readonly (readonly string[])[] {
  const count = columnsWithin(style.columns ?? Infinity, columns, rows);
  const [titles = '', ...lines] = tableLines(columns.slice(0, count), rows);
  const below = rows.map((row) => linesBelow(columns.slice(count), row.slice(count), style));
  return [[style.bold(titles)], ...lines.map((line, index) => [line, ...(below[index] ?? [])])];
}

export function table(columns: readonly Column[], rows: readonly (readonly Cell[])[], style: Style): readonly string[] {
  return tableRows(columns, rows, style).flat();
}

/** Counts the columns that fit: at least the first one. */
function columnsWithin(room: number, columns: readonly Column[], rows: readonly (readonly Cell[])[]): number {
  let used = 0;
  for (const [index, width] of widthsOf(columns, rows).entries()) {
    used += (index === 0 ? 0 : GAP.length) + width;
    if (used > room) return Math.max(1, index);
  }
  return columns.length;
}

/** Keeps a title and its value on one line while the lines are broken. */
const NO_BREAK = '\u00A0';

function linesBelow(columns: readonly Column[], row: readonly Cell[], style: Style): readonly string[] {
  const parts = columns.flatMap(({ title }, index) => {
    const cell = row[index];
    return NOTHING.has(textOf(cell)) ? [] : [`${title.trim().toLowerCase()} ${shown(cell)}`.replaceAll(' ', NO_BREAK)];
  });
  return parts.length === 0 ? [] : wrap(`  ${parts.join(', ')}`, style).map((line) => line.replaceAll(NO_BREAK, ' '));
}

const NOTHING: ReadonlySet<string> = new Set(['', '-']);

/** Returns the lines without colours, in full width. */
export function tableLines(columns: readonly Column[], rows: readonly (readonly Cell[])[]): readonly string[] {
  const widths = widthsOf(columns, rows);
  return [columns.map(({ title }) => title), ...rows].map((row) =>
    columns
      .map(({ align }, index) => pad(row[index], widths[index] ?? 0, align))
      .join(GAP)
      .trimEnd(),
  );
}

function widthsOf(columns: readonly Column[], rows: readonly (readonly Cell[])[]): readonly number[] {
  return columns.map(({ title }, index) => rows.reduce((widest, row) => Math.max(widest, columnsOf(textOf(row[index]))), columnsOf(title)));
}

function pad(cell: Cell | undefined, width: number, align: Column['align']): string {
  // Painted text has characters that take no room, so the blanks go around it.
  const blanks = ' '.repeat(width - columnsOf(textOf(cell)));
  return align === 'right' ? blanks + shown(cell) : shown(cell) + blanks;
}

function shown(cell: Cell | undefined): string {
  return typeof cell === 'object' ? cell.style(textOf(cell)) : textOf(cell);
}

function textOf(cell: Cell | undefined): string {
  return oneLine(typeof cell === 'object' ? cell.text : (cell ?? ''));
}
