/** Finds sections of Markdown texts, as `<guide.md # Birds>` reads them (world.md 7 and 8). */
import { splitFrontmatter } from './frontmatter.js';

export interface Heading {
  /** The level, 1 to 6. */
  readonly level: number;
  readonly title: string;
  /** The offset of the heading's line, in UTF-16 units. */
  readonly at: number;
}

/** Returns headings in document order; those inside fences and frontmatter are text. */
export function headings(text: string): Heading[] {
  const found: Heading[] = [];
  let fence: RegExp | undefined;
  for (let at = splitFrontmatter(text)?.bodyAt ?? 0; at < text.length;) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end === -1 ? text.length : end);
    if (fence) {
      if (fence.test(line)) fence = undefined;
    } else if (/^ {0,3}[#`~]/.test(line)) {
      fence = closingFence(line);
      const [, marks, title = ''] = HEADING.exec(line) ?? [];
      if (marks) found.push({ level: marks.length, title: withoutClosingMarks(title.trim()), at });
    }
    at = end === -1 ? text.length : end + 1;
  }
  return found;
}

const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/m;

/** `## Title ##` is titled `Title`, and `# C#` is titled `C#`. */
function withoutClosingMarks(title: string): string {
  let end = title.length;
  while (end > 0 && title[end - 1] === '#') end--;
  const before = title.slice(0, end);
  return before === '' || before.trimEnd() !== before ? before.trimEnd() : title;
}

function closingFence(line: string): RegExp | undefined {
  const marks = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
  return marks ? new RegExp(`^ {0,3}${marks.charAt(0)}{${marks.length},}\\s*$`) : undefined;
}

export interface Selection {
  readonly include: readonly { readonly title: string; readonly optional: boolean }[];
  readonly exclude: readonly { readonly title: string }[];
}

/** Returns the chosen sections in document order; `missing` is the first title that is neither there nor optional. */
export function extractSections(text: string, selection: Selection): { readonly text: string; readonly missing?: string } {
  const all = headings(text);
  const included: Range[] = [];
  for (const { title, optional } of selection.include) {
    const range = findSection(text, all, title);
    if (range) included.push(range);
    else if (!optional) return { text: '', missing: title };
  }
  const excluded = selection.exclude.map(({ title }) => findSection(text, all, title)).filter((range) => range !== undefined);
  const pieces = mergeOverlapping(included).map((range) => cutOut(text, range, excluded).trim());
  return { text: pieces.filter((piece) => piece !== '').join('\n\n') };
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Returns the text from the first heading whose title begins with `title` to the next one of the same or a higher level. */
function findSection(text: string, all: readonly Heading[], title: string): Range | undefined {
  const query = comparable(title);
  if (query === '') return undefined;
  const index = all.findIndex((heading) => comparable(heading.title).startsWith(query));
  const start = all[index];
  if (!start) return undefined;
  const next = all.find((heading, i) => i > index && heading.level <= start.level);
  return { from: start.at, to: next?.at ?? text.length };
}

/** Titles are compared by their letters a to z and digits only. */
function comparable(title: string): string {
  return title
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

function mergeOverlapping(ranges: readonly Range[]): Range[] {
  const merged: Range[] = [];
  for (const range of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last && range.from < last.to) merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, range.to) };
    else merged.push(range);
  }
  return merged;
}

function cutOut(text: string, { from, to }: Range, excluded: readonly Range[]): string {
  let rest = '';
  let at = from;
  for (const cut of mergeOverlapping(excluded)) {
    if (cut.to <= at || cut.from >= to) continue;
    rest += text.slice(at, Math.max(at, cut.from));
    at = cut.to;
  }
  return rest + text.slice(Math.min(at, to), to);
}

/** Returns all titles, or those of one level. */
export function listHeadings(text: string, level?: number): string[] {
  const all = headings(text);
  return (level === undefined ? all : all.filter((heading) => heading.level === level)).map(({ title }) => title);
}

/** `### Title` replaces the heading line, `Title` its words, `####` its level. The line is put before a text without a heading. */
export function renameHeading(section: string, heading: string): string {
  const end = section.indexOf('\n');
  const line = end === -1 ? section : section.slice(0, end);
  const [, marks, title = ''] = HEADING.exec(line) ?? [];
  if (!marks) return `${heading}\n${section}`;
  return newHeading(heading.trim(), marks, title.trim()) + (end === -1 ? '' : section.slice(end));
}

function newHeading(heading: string, marks: string, title: string): string {
  if (/^#{1,6}$/.test(heading)) return `${heading} ${title}`;
  return /^#{1,6}\s/.test(heading) ? heading : `${marks} ${heading}`;
}
