/**
 * Breaks lines between words, so that they fit a terminal; continuation lines are indented. What is handed over as one line stays one: a
 * line break in a name of a journal, that of a function or an operation, is written out, so that it begins no line of a report.
 */
import { columnsOf } from '../../grammar/columns.js';
import { oneLine } from './one-line.js';
import type { Style } from './style.js';
import { EVERY_MARK } from './terminal-text.js';

const DEEPER = 2;
/** The largest part of a narrow terminal that is indentation. */
const INDENT_PART_MAX = 1 / 4;

/** A word that is too long, as a path may be, stays whole: the terminal breaks it, and it can still be copied. */
export function wrap(text: string, { columns }: Style): readonly string[] {
  const line = oneLine(text);
  if (columns === undefined || widthOf(line) <= columns) return [line];
  const [, margin = '', words = ''] = /^( *)(.*)$/s.exec(line) ?? [];
  const indent = Math.min(margin.length + DEEPER, Math.floor(columns * INDENT_PART_MAX));
  const lines: string[] = [];
  let current = margin.slice(0, indent);
  let room = columns - current.length;
  let gap = '';
  for (const [number, part] of words.split(/( +)/).entries()) {
    if (number % 2 === 1) {
      gap = part;
      continue;
    }
    const needed = gap.length + widthOf(part);
    if (number > 0 && needed > room) {
      lines.push(current);
      current = ' '.repeat(indent) + part;
      room = columns - indent - widthOf(part);
    } else {
      current += gap + part;
      room -= needed;
    }
  }
  return [...lines, current];
}

/** Wraps every line of a report. */
export function wrapAll(lines: readonly string[], style: Style): readonly string[] {
  return lines.flatMap((line) => wrap(line, style));
}

/** Counts columns; colours take none. */
export function widthOf(line: string): number {
  return columnsOf(line.replaceAll(EVERY_MARK, ''));
}
