/** `mlld docs` prints the documents that come with the program. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPage, readPages, searchPages } from '../../../cli/commands/start/pages.js';
import { renderMarkdown } from '../../../cli/render/markdown.js';
import { styleFor } from '../../../cli/render/style.js';
import { EVERY_MARK } from '../../../cli/render/terminal-text.js';
import { emptyFolder, runCli } from '../../support/cli.js';
import { PROJECT } from '../../support/source-files.js';

const DOCS = join(PROJECT, 'docs');
const pages = readPages(DOCS);

describe('the topics', () => {
  it('are different words, and each leads to its page', () => {
    expect(new Set(pages.map(({ topic }) => topic)).size).toBe(pages.length);
    for (const page of pages) expect(findPage(pages, page.topic)).toBe(page);
  });

  it.each([
    ['json', 'guide/06-json.md'],
    ['6', 'guide/06-json.md'],
    ['First workflow', 'guide/01-first-workflow.md'],
    ['a first workflow in ten minutes', 'guide/01-first-workflow.md'],
    ['guide/06-json.md', 'guide/06-json.md'],
    ['docs/guide/06-json.md', 'guide/06-json.md'],
    ['docs/json', 'json.md'],
    ['docs/json.md', 'json.md'],
    ['resume', 'resume.md'],
    ['spec/calls', 'spec/calls.md'],
    ['calls', 'spec/calls.md'],
  ])('%s is %s', (wanted, file) => {
    expect(findPage(pages, wanted)?.file).toBe(file);
  });

  it('are listed without a word, as text and as JSON', async () => {
    const cwd = await emptyFolder();
    const { stdout, status } = await runCli(['docs'], { cwd });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ {2}first-workflow +A first workflow in ten minutes$/m);
    expect(stdout).toContain('mlld docs TOPIC prints a page');
    const { topics } = JSON.parse((await runCli(['docs', '--json'], { cwd })).stdout) as { topics: unknown };
    expect(topics).toEqual(pages.map(({ topic, title, file }) => ({ topic, title, file })));
  });
});

describe('a page', () => {
  it('goes into a pipe as it is written, without the comments in it', async () => {
    const { stdout, status } = await runCli(['docs', '6'], { cwd: await emptyFolder() });
    expect(status).toBe(0);
    const written = readFileSync(join(DOCS, 'guide/06-json.md'), 'utf8');
    expect(written).toContain('<!-- agents');
    expect(stdout).toBe(`${written.replaceAll(/^<!--.*-->\n+/gm, '').trimEnd()}\n`);
  });

  it('that does not exist is an error with the nearest one', async () => {
    const cwd = await emptyFolder();
    for (const [words, hint] of [
      [['resum'], 'did you mean resume? mlld docs --search resum looks for it in all pages'],
      [['PAUSE'], 'did you mean PAUSED? mlld docs --search PAUSE looks for it in all pages'],
      [['retry'], 'did you mean pipelines-and-retry? mlld docs --search retry looks for it in all pages'],
      [['hook'], 'did you mean hooks-and-guards? mlld docs --search hook looks for it in all pages'],
      [['submarine', 'cables'], "mlld docs --search 'submarine cables' looks for it in all pages"],
    ] as const) {
      const { stdout, stderr, status } = await runCli(['docs', ...words], { cwd });
      expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
      expect(stderr).toBe(`Error: There is no topic "${words.join(' ')}"; mlld docs lists them\n  hint: ${hint}\n`);
    }
  });

  it('of an error is its row', async () => {
    const { stdout } = await runCli(['docs', 'NO_PROJECT'], { cwd: await emptyFolder() });
    expect(stdout).toMatch(/^NO_PROJECT\n {2}`openFileStore` of .*\n {2}what to do: /);
  });
});

describe('a search', () => {
  it('names file, line and heading, and the lines are there', () => {
    const hits = searchPages(pages, ['Parse.LLM', 'null']);
    expect(hits[0]).toMatchObject({ topic: 'json', file: 'guide/06-json.md' });
    for (const { file, line, text, heading } of hits) {
      const lines = readFileSync(join(DOCS, file), 'utf8').split('\n');
      expect(lines[line - 1]?.trim()).toBe(text);
      expect(lines.slice(0, line).findLast((each) => each.endsWith(heading))).toMatch(/^#+ /);
    }
  });

  it('prints what it found, or ends with status 1', async () => {
    const cwd = await emptyFolder();
    const found = await runCli(['docs', '--search', 'parse.llm', 'finds'], { cwd });
    expect(found).toMatchObject({ status: 0, stderr: '' });
    expect(found.stdout).toMatch(
      /^Replies with words around the JSON {2}mlld docs json\n {2}docs\/guide\/06-json\.md:\d+: .*`@parse\.llm`/,
    );
    expect(await runCli(['docs', 'zyx wvu', '--search'], { cwd })).toMatchObject({ status: 1, stdout: 'Nothing has all of: zyx wvu\n' });
    expect((await runCli(['docs', '--search'], { cwd })).stderr).toContain('Error: --search needs words to look for\n');
  });
});

describe('on a terminal', () => {
  const shown = (text: string, columns: number) => renderMarkdown(text, { ...styleFor(true), columns }, () => 'mlld docs tides');
  const plain = (text: string, columns: number) => shown(text, columns).map((line) => line.replaceAll(EVERY_MARK, ''));

  it('headings stay at the margin, prose is filled, lists and code keep their form', () => {
    const text =
      '# Tides\n\nTwo lines\nof `prose`, see [the page](tides.md).\n\n- one\n  more\n- two\n\n```sh\n$ mlld tide.mld\n  ebb\n```\n';
    expect(plain(text, 80)).toEqual([
      'TIDES',
      '',
      '  Two lines of prose, see the page (mlld docs tides).',
      '',
      '  - one more',
      '  - two',
      '',
      '    $ mlld tide.mld',
      '      ebb',
      '',
    ]);
  });

  it.each([40, 80])('every page of the guide fits into %i columns, but for code and long words', (columns) => {
    for (const { text, file } of pages.filter((page) => page.file.startsWith('guide/'))) {
      const long = plain(text, columns).filter((line) => line.length > columns && !line.startsWith('    ') && /\S +\S/.test(line.trim()));
      expect({ file, long }).toEqual({ file, long: [] });
    }
  });

  it('the source of no page is lost', () => {
    for (const { text, file } of pages) {
      const words = (lines: string) =>
        lines
          .replaceAll(/[^A-Za-z]+/g, ' ')
          .toLowerCase()
          .split(' ').length;
      const fewer =
        words(
          text
            .replaceAll(/^<!--.*?-->\n+/gms, '')
            .replaceAll(/^```.*$/gm, '')
            .replaceAll(/\]\([^)]*\)/g, ']'),
        ) * 0.98;
      expect(words(plain(text, 100).join(' ')), file).toBeGreaterThan(fewer);
    }
  });
});
