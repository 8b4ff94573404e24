/** Columns, as wide as what stands in them. The last one is not padded. */
import { columnsOf } from '../../grammar/columns.js';
import type { Paint } from './paint.js';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
}

export type Cell = string | { readonly text: string; readonly paint: (text: string) => string };

/** Figures: what is in them is written to the right. */
export function figures(...titles: readonly string[]): readonly Column[] {
  return titles.map((title) => ({ title, align: 'right' }));
}

/** Lines without newlines, the titles first and bold. */
export function table(columns: readonly Column[], rows: readonly (readonly Cell[])[], paint: Paint): readonly string[] {
  const [titles = '', ...lines] = tableLines(columns, rows);
  return [paint.bold(titles), ...lines];
}

/** The same without colours. */
export function tableLines(columns: readonly Column[], rows: readonly (readonly Cell[])[]): readonly string[] {
  const all: readonly (readonly Cell[])[] = [columns.map(({ title }) => title), ...rows];
  const widths = columns.map((_, index) => Math.max(...all.map((row) => columnsOf(textOf(row[index])))));
  return all.map((row) =>
    columns
      .map(({ align }, index) => pad(row[index], widths[index] ?? 0, align))
      .join('  ')
      .trimEnd(),
  );
}

function pad(cell: Cell | undefined, width: number, align: Column['align']): string {
  const text = textOf(cell);
  // Painted text has characters that take no room, so the blanks go around it.
  const shown = typeof cell === 'object' ? cell.paint(text) : text;
  const blanks = ' '.repeat(width - columnsOf(text));
  return align === 'right' ? blanks + shown : shown + blanks;
}

function textOf(cell: Cell | undefined): string {
  return typeof cell === 'object' ? cell.text : (cell ?? '');
}
