/**
 * Renders a document for a terminal: headings at the margin, everything else indented below them, so that the structure is seen without
 * colours as well. Knows the Markdown that our own documents use, and leaves anything else as it is written.
 */
import { table } from './table.js';
import type { Style } from './style.js';
import { wrap } from './wrap.js';

/** Lines that are longer than this are hard to read, however wide the terminal is. */
const LINE_COLUMNS_MAX = 100;
const MARGIN = '  ';
const ITEM = /^ *(?:[-*]|\d+\.) /;

/** Comments are not for readers. */
export function withoutComments(text: string): string {
  return text.replaceAll(/^<!--.*?-->\n+/gms, '');
}

/** `leadsTo` names the command that prints the page behind a link; undefined for a link that leads elsewhere. */
export function renderMarkdown(text: string, style: Style, leadsTo: (target: string) => string | undefined): readonly string[] {
  const columns = Math.min(style.columns ?? LINE_COLUMNS_MAX, LINE_COLUMNS_MAX);
  const within: Style = { ...style, columns };
  const shown = (prose: string): string => spans(prose, style, leadsTo);
  return blocksOf(withoutComments(text)).flatMap((lines) => [...block(lines, within, shown), '']);
}

type Shown = (prose: string) => string;

function block(lines: readonly string[], style: Style, shown: Shown): readonly string[] {
  const [first = ''] = lines;
  const heading = /^(#+) (.*)$/.exec(first);
  if (heading !== null) {
    const [, level, title = ''] = heading;
    return wrap(level === '#' ? title.toUpperCase() : title, style).map(style.bold);
  }
  if (first.startsWith('```')) return lines.slice(1, -1).map((line) => MARGIN + MARGIN + codeLine(line, style));
  if (first.startsWith('|')) return tableBlock(lines, style);
  return itemsOf(lines).flatMap((item) => wrapped(shown(item), style));
}

/** The lines of a paragraph begin below each other, those of an item further right. */
function wrapped(item: string, style: Style): readonly string[] {
  const lines = wrap(MARGIN + item, style);
  return ITEM.test(item) ? lines : lines.map((line) => MARGIN + line.trimStart());
}

/** Makes commands bold, so that they differ from their output. */
function codeLine(line: string, { bold }: Style): string {
  return line.startsWith('$ ') ? bold(line) : line;
}

/** Headings, fenced code, and paragraphs or lists between empty lines. */
function blocksOf(text: string): readonly (readonly string[])[] {
  const blocks: string[][] = [];
  let current: string[] = [];
  let fence = '';
  const close = (): void => {
    if (current.length > 0) blocks.push(current);
    current = [];
  };
  for (const line of text.split('\n')) {
    const mark = /^`{3,}/.exec(line)?.[0] ?? '';
    if (fence !== '') {
      current.push(line);
      if (mark !== fence) continue;
      fence = '';
      close();
    } else if (mark !== '') {
      close();
      fence = mark;
      current.push(line);
    } else if (/^#+ /.test(line)) {
      close();
      blocks.push([line]);
    } else if (line.trim() === '') close();
    else current.push(line);
  }
  close();
  return blocks;
}

/** Joins the lines of a paragraph, and those of each item of a list. */
function itemsOf(lines: readonly string[]): readonly string[] {
  const items: string[] = [];
  for (const line of lines) {
    if (items.length === 0 || ITEM.test(line)) items.push(line.trimEnd());
    else items.push(`${items.pop() ?? ''} ${line.trim()}`);
  }
  return items;
}

/** A table that is wider than the terminal is shown row by row, with the titles before what follows below. */
function tableBlock(lines: readonly string[], style: Style): readonly string[] {
  const [titles = [], , ...rows] = lines.map(cellsOf);
  const narrower: Style = { ...style, columns: (style.columns ?? LINE_COLUMNS_MAX) - MARGIN.length };
  return table(
    titles.map((title) => ({ title })),
    rows,
    narrower,
  ).flatMap((line) => wrap(MARGIN + line, style));
}

function cellsOf(line: string): readonly string[] {
  const cells = line
    .replace(/^\|/, '')
    .replace(/\|\s*$/, '')
    .split(/(?<!\\)\|/);
  return cells.map((cell) =>
    cell
      .trim()
      .replaceAll(String.raw`\|`, '|')
      .replaceAll('`', ''),
  );
}

const SPANS = /`([^`]+)`|\[([^\]]+)\]\(([^)\s]+)\)|\*\*([^*]+)\*\*/g;

/** Each word has the colours of its own, because a line may end behind it. */
function spans(prose: string, style: Style, leadsTo: (target: string) => string | undefined): string {
  const eachWord = (text: string, paint: (word: string) => string): string => text.split(' ').map(paint).join(' ');
  const hasColours = style.green('') !== '';
  return prose.replaceAll(SPANS, (whole, code?: string, label?: string, target?: string, strong?: string) => {
    if (code !== undefined) return hasColours ? eachWord(code, style.green) : whole;
    if (strong !== undefined) return eachWord(strong, style.bold);
    const command = leadsTo(target ?? '');
    const text = (label ?? '').replaceAll('`', '');
    return command === undefined ? text : `${text} ${eachWord(`(${command})`, style.dim)}`;
  });
}
