/** The documents that come with the program: their topics, what is found in them, and what they say of an error. */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Page {
  /** The word that `mlld docs` takes: `json` for `guide/06-json.md`, and `docs/json` for another page of this name. */
  readonly topic: string;
  readonly title: string;
  /** Relative to the folder of the documents. */
  readonly file: string;
  readonly text: string;
}

export interface Hit {
  readonly topic: string;
  readonly file: string;
  /** The heading above the line. */
  readonly heading: string;
  readonly line: number;
  readonly text: string;
}

/** Pages for people who work on mlld itself. */
const OF_THE_HOUSE: ReadonlySet<string> = new Set(['README.md', 'architecture.md', 'contributing.md', 'glossary.md']);
const SECTION_LINES_MAX = 3;

/** In the order in which they are read: the guide, then the documents by subject, then the specification. */
export function readPages(docs: string = fileURLToPath(new URL('../docs', import.meta.url))): readonly Page[] {
  const topics = new Set<string>();
  return ['guide', '', 'spec'].flatMap((folder) =>
    fs
      .readdirSync(path.join(docs, folder))
      .filter((name) => name.endsWith('.md') && !OF_THE_HOUSE.has(name))
      .sort()
      .map((name) => {
        const file = path.posix.join(folder, name);
        const text = fs.readFileSync(path.join(docs, file), 'utf8');
        const short = file.replace(/\.md$/, '').replace(/^guide\/\d+-/, '');
        const topic = topics.has(short) ? `docs/${short}` : short;
        topics.add(topic);
        return { topic, title: (/^# (.*)$/m.exec(text)?.[1] ?? file).replaceAll('`', ''), file, text };
      }),
  );
}

/** Finds a page by its topic, the number of a page of the guide, its title or its file. */
export function findPage(pages: readonly Page[], wanted: string): Page | undefined {
  const name = asTopic(wanted);
  return pages.find(({ topic }) => topic === name) ?? pages.find((page) => namesOf(page).includes(name));
}

/** The words under which a page is found. */
export function namesOf({ topic, file, title }: Page): readonly string[] {
  const number = /^guide\/0*(\d+)-/.exec(file)?.[1];
  const plain = file.replace(/\.md$/, '');
  return [topic, asTopic(title), path.posix.basename(plain), plain, `docs/${plain}`, ...(number === undefined ? [] : [number])];
}

function asTopic(text: string): string {
  return text.toLowerCase().replace(/\.md$/, '').replaceAll(/\s+/g, '-');
}

/** Finds the sections that have all words, and in each the lines with most of them. Sections with all of them in one line come first. */
export function searchPages(pages: readonly Page[], words: readonly string[]): readonly Hit[] {
  const wanted = words.map((word) => word.toLowerCase());
  const hits = pages.flatMap((page) => sectionsOf(page).flatMap((section) => hitsIn(page, section, wanted)));
  const isNear = ({ text }: Hit): boolean => countIn(text, wanted) === wanted.length;
  return [...hits.filter(isNear), ...hits.filter((hit) => !isNear(hit))];
}

interface Section {
  readonly heading: string;
  /** With the heading as the first. */
  readonly lines: readonly string[];
  /** The number of the first line, from 1. */
  readonly from: number;
}

/** A line of a code block that begins with `#` is a comment, and no heading. */
function sectionsOf({ title, text }: Page): readonly Section[] {
  const sections: { heading: string; lines: string[]; from: number }[] = [{ heading: title, lines: [], from: 1 }];
  let isCode = false;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.startsWith('```')) isCode = !isCode;
    const heading = isCode ? undefined : /^#+ (.*)$/.exec(line)?.[1];
    if (heading !== undefined) sections.push({ heading, lines: [], from: index + 1 });
    sections.at(-1)?.lines.push(line);
  }
  return sections;
}

function hitsIn({ topic, file }: Page, { heading, lines, from }: Section, wanted: readonly string[]): readonly Hit[] {
  const all = lines.join('\n').toLowerCase();
  if (!wanted.every((word) => all.includes(word))) return [];
  const counted = lines.map((text, index) => ({ text: text.trim(), line: from + index, found: countIn(text, wanted) }));
  const most = Math.max(...counted.map(({ found }) => found));
  return counted
    .filter(({ found }) => found === most)
    .slice(0, SECTION_LINES_MAX)
    .map(({ text, line }) => ({ topic, file, heading, line, text }));
}

function countIn(line: string, wanted: readonly string[]): number {
  const text = line.toLowerCase();
  return wanted.filter((word) => text.includes(word)).length;
}

export interface ErrorRow {
  readonly code: string;
  readonly meaning: string;
  readonly remedy: string;
}

/** Returns what `errors.md` says of each code. */
export function errorRows(pages: readonly Page[]): readonly ErrorRow[] {
  const text = pages.find(({ file }) => file === 'errors.md')?.text ?? '';
  return [...text.matchAll(/^\| `([A-Z_0-9]+)` +\| (.*?) +\| (.*?) +\|$/gm)].map(([, code = '', meaning = '', remedy = '']) => ({
    code,
    meaning,
    remedy,
  }));
}
