/** `mlld docs [TOPIC]`: the guide and the documents on a terminal, without a network. world.md 17.7. */
import path from 'node:path';
import { closest } from '../../../grammar/closest.js';
import { MlldError } from '../../../src/errors.js';
import { EXIT_FAILED, EXIT_OK } from '../../exit-codes.js';
import { renderMarkdown, withoutComments } from '../../render/markdown.js';
import { clip } from '../../render/one-line.js';
import { shellWords } from '../../../journal/shell-words.js';
import { reportStyle, type Style } from '../../render/style.js';
import { tableLines } from '../../render/table.js';
import { wrapAll } from '../../render/wrap.js';
import type { Io } from '../../terminal/io.js';
import { errorRows, findPage, namesOf, readPages, searchPages, type ErrorRow, type Hit, type Page } from './pages.js';

/** A row of a table may be a paragraph. */
const HIT_UNITS_MAX = 200;

interface DocsOptions {
  readonly search?: true;
  readonly json?: true;
}

export async function docs(io: Io, words: readonly string[], { search, json }: DocsOptions): Promise<number> {
  const pages = readPages();
  const print = (report: unknown, lines: () => readonly string[]): number => {
    io.stdout(json ? `${JSON.stringify(report, undefined, 2)}\n` : `${lines().join('\n')}\n`);
    return EXIT_OK;
  };
  const style = reportStyle(io);
  if (search) {
    if (words.length === 0) throw new MlldError('USAGE', '--search needs words to look for', { hint: 'mlld docs --search retry budget' });
    const hits = searchPages(pages, words);
    const status = print({ words, hits }, () => (hits.length === 0 ? [`Nothing has all of: ${words.join(' ')}`] : renderHits(hits, style)));
    return hits.length === 0 ? EXIT_FAILED : status;
  }
  if (words.length === 0)
    return print({ topics: pages.map(({ topic, title, file }) => ({ topic, title, file })) }, () => topics(pages, style));
  const wanted = words.join(' ');
  const row = errorRows(pages).find(({ code }) => code === wanted);
  if (row !== undefined) return print(row, () => renderErrorRow(row, style));
  const page = findPage(pages, wanted);
  if (page === undefined) throw unknownTopic(wanted, pages);
  return print(page, () => rendered(page, pages, style));
}

function unknownTopic(wanted: string, pages: readonly Page[]): MlldError {
  const codes = wanted === wanted.toUpperCase() ? errorRows(pages).map(({ code }) => code) : [];
  const within = pages.find(({ topic }) => topic.split('-').some((word) => word === wanted || word === `${wanted}s`));
  const near = within?.topic ?? closest(wanted, [...pages.flatMap(namesOf), ...codes]);
  const page = near === undefined ? undefined : findPage(pages, near);
  const search = `${shellWords(['mlld', 'docs', '--search', wanted])} looks for it in all pages`;
  const hint = near === undefined ? search : `did you mean ${page?.topic ?? near}? ${search}`;
  return new MlldError('USAGE', `There is no topic "${wanted}"; mlld docs lists them`, { hint });
}

/** Into a pipe or a file goes the page as it is written, which programs and editors understand. */
function rendered(page: Page, pages: readonly Page[], style: Style): readonly string[] {
  const text = withoutComments(page.text).trimEnd();
  if (style.columns === undefined) return [text];
  const leadsTo = (target: string): string | undefined => {
    const file = path.posix.join(path.posix.dirname(page.file), target.replace(/#.*$/, ''));
    const found = pages.find((candidate) => candidate.file === file);
    return found === undefined || found === page ? undefined : `mlld docs ${found.topic}`;
  };
  return renderMarkdown(text, style, leadsTo).slice(0, -1);
}

const GROUPS = [
  ['The guide, from a first script to long workflows', /^guide\//],
  ['By subject', /^[^/]+$/],
  ['The specification', /^spec\//],
] as const;

function topics(pages: readonly Page[], style: Style): readonly string[] {
  const width = Math.max(...pages.map(({ topic }) => topic.length));
  const lists = GROUPS.flatMap(([title, pattern]) => {
    const rows = pages.filter(({ file }) => pattern.test(file)).map((page) => [page.topic.padEnd(width), page.title]);
    const lines = tableLines([{ title: '' }, { title: '' }], rows).slice(1);
    return [style.bold(title), ...lines.map((line) => `  ${line}`), ''];
  });
  return wrapAll(
    [...lists, 'mlld docs TOPIC prints a page, mlld docs --search WORDS finds all words, mlld docs CODE explains the code of an error.'],
    style,
  );
}

function renderHits(hits: readonly Hit[], style: Style): readonly string[] {
  return hits.flatMap(({ topic, file, heading, line, text }, index) => {
    const isSame = hits[index - 1]?.file === file && hits[index - 1]?.heading === heading;
    const place = `docs/${file}:${line}`;
    const head = `${style.bold(heading)}  ${style.dim(`mlld docs ${topic}`)}`;
    return wrapAll([...(isSame ? [] : [head]), `  ${place}: ${clip(text, HIT_UNITS_MAX)}`], style);
  });
}

function renderErrorRow({ code, meaning, remedy }: ErrorRow, style: Style): readonly string[] {
  return wrapAll([style.bold(code), `  ${meaning}`, `  what to do: ${remedy}`], style);
}
