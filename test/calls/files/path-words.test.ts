import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { namedFiles, nameInProject } from '../../../src/calls/files/named-files.js';
import { pathWords, WORDS_MAX } from '../../../src/calls/files/path-words.js';

/** Parts of names that nobody quotes. */
const name = fc.stringMatching(/^[a-z0-9_-]{1,12}$/);
const folders = fc.array(name, { maxLength: 3 });
const extension = fc.constantFrom('md', 'json', 'ts', '7z', 'tar-gz');
const filePath = fc
  .tuple(fc.constantFrom('', './', '../', '/srv/'), folders, name, extension)
  .map(([start, above, file, end]) => `${start}${[...above, `${file}.${end}`].join('/')}`);
const prose = fc.array(fc.stringMatching(/^[A-Za-z]{1,12}$/), { maxLength: 20 }).map((words) => words.join(' '));
/** Ways in which a prompt writes a path. */
const WRITTEN: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => `\`${path}\``,
  (path) => `"${path}",`,
  (path) => `'${path}'`,
  (path) => `(${path})`,
  (path) => `[${path}]`,
  (path) => `**${path}**`,
  (path) => `<${path}>`,
  (path) => `@${path}`,
  (path) => `${path}.`,
  (path) => `${path}:12:3`,
  (path) => `--out=${path}`,
  (path) => `{"file":"${path}"}`,
  (path) => `[the list](${path}).`,
  (path) => `“${path}”`,
];

describe('the words of arguments that are taken as paths', () => {
  it('have every path with an extension in them, whatever is around it', () => {
    fc.assert(
      fc.property(
        filePath,
        prose,
        prose,
        fc.constantFrom(...WRITTEN),
        fc.constantFrom(' ', '\n', '\t', '\u00a0'),
        (path, left, right, write, blank) => {
          const text = `${left}${blank}${write(path)}${blank}${right}`;
          expect(pathWords([{ prompt: [text] }])).toContain(path);
        },
      ),
    );
  });

  it('are whole words: a path is not found inside of another word', () => {
    fc.assert(
      fc.property(filePath, name, (path, more) => {
        fc.pre(!path.endsWith(more));
        expect(pathWords([`see x${path}${more} there`])).not.toContain(path);
      }),
    );
  });

  it('are none in prose without a slash and without an extension', () => {
    fc.assert(
      fc.property(fc.array(prose), (texts) => {
        expect(pathWords([texts.join('. '), texts.map((text) => `${text}! 3.5 or 24.12.`)])).toEqual([]);
      }),
    );
  });

  it('are at most so many, the first and the last ones, whatever the text', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(filePath, fc.string()), { maxLength: 600 }), (words) => {
        expect(pathWords([words.join(' ')]).length).toBeLessThanOrEqual(WORDS_MAX);
      }),
    );
    const many = Array.from({ length: 5000 }, (_, at) => `src/f${at}.ts`);
    const words = pathWords([`Write out/first.md.\n${many.join('\n')}\nThen list them in out/last.md`]);
    expect(words).toHaveLength(WORDS_MAX);
    expect(words).toEqual(expect.arrayContaining(['out/first.md', 'src/f4999.ts', 'out/last.md']));
  });

  it.each<[string, readonly string[]]>([
    ['Makefile', []],
    ['and so on, etc. 3.5 or v1.2', []],
    ['out/', []],
    ['see https://example.com/a.html', []],
    ['~/notes.md', []],
    ['src/**/*.ts', []],
    ['.. and / and ./', []],
    ['.env', ['.env']],
    ['bin/run', ['bin/run']],
    ['my notes/of today.md', ['my notes/of today.md', 'notes/of', 'today.md']],
    ['app/(group)/[id]/page.tsx and [id].tsx', ['app/(group)/[id]/page.tsx', '[id].tsx']],
  ])('of %j', (text, words) => {
    expect(pathWords([text])).toEqual(expect.arrayContaining([...words]));
    if (words.length === 0) expect(pathWords([`${text}\n`]).filter((word) => word.trim() !== text)).toEqual([]);
  });

  it('are found in the names of members, and in nothing that is no text', () => {
    expect(pathWords([{ 'src/a.ts': 1.5 }, null, true, ['b.md']])).toEqual(['src/a.ts', 'b.md']);
  });

  // WORD-1
  it.each<[string, (units: number) => string]>([
    ['one word', (units) => 'a'.repeat(units)],
    ['stops', (units) => 'a.'.repeat(units / 2)],
    ['slashes', (units) => 'ab/'.repeat(units / 3)],
    ['words that are too long', (units) => `${'f'.repeat(1100)}/`.repeat(units / 1101)],
    ['sentences', (units) => 'a sentence. and/or '.repeat(units / 19)],
  ])('are found in work that grows with the length of the text alone: %s', (_what, make) => {
    const unit = 20_000;
    // Quadratic work would be 64 times as much.
    expect(charactersRead(make(unit * 8))).toBeLessThan(12 * charactersRead(make(unit)));
  });
});

/** Counts the characters that are looked at one by one, or that a pattern moves over. */
function charactersRead(text: string): number {
  let count = 0;
  const charCodeAt = vi.spyOn(String.prototype, 'charCodeAt');
  const exec = RegExp.prototype.exec;
  const patterns = vi.spyOn(RegExp.prototype, 'exec').mockImplementation(function (this: RegExp, searched: string) {
    const from = this.global ? this.lastIndex : 0;
    const match = exec.call(this, searched);
    count += (match === null ? searched.length : match.index + match[0].length) - from;
    return match;
  });
  try {
    pathWords([text]);
    return count + charCodeAt.mock.calls.length;
  } finally {
    patterns.mockRestore();
    charCodeAt.mockRestore();
  }
}

describe('the files that a call names', () => {
  const root = '/home/ann/project';

  it('are inside the project, and not where mlld and git keep what is theirs', () => {
    const words =
      'a.md ./b/c.md ../other/d.md /home/ann/project/e.md /etc/f.conf .mlld/g.json .git/h.cfg sub/.git/i.cfg b/../../project/j.md';
    expect(namedFiles([words], { root, bases: [root] })).toEqual(expect.arrayContaining(['a.md', 'b/c.md', 'e.md', 'j.md']));
    expect(namedFiles(words.split(' '), { root, bases: [root] })).toEqual(['a.md', 'b/c.md', 'e.md', 'j.md']);
  });

  it('are relative to each of the folders, and the same file once', () => {
    expect(namedFiles(['a.md', '../a.md', '/home/ann/project/a.md'], { root, bases: [root, `${root}/sub`] })).toEqual(['a.md', 'sub/a.md']);
  });

  it('never have a path that leaves the project', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(filePath, fc.string(), fc.constant('../../../etc/passwd')), { maxLength: 30 }), (words) => {
        for (const found of namedFiles(words, { root, bases: [root, `${root}/deep/er`] })) {
          expect(nameInProject(root, `${root}/${found}`)).toBe(found);
          expect(found.split('/')).not.toContain('..');
        }
      }),
    );
  });
});
