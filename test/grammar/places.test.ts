import { describe, expect, it } from 'vitest';
import { codeFrame, locate, parseScript } from '../../grammar/parse.js';

describe('places in a source', () => {
  it.each([
    ['the first character', 'ab', 0, 1, 1],
    ['behind LF', 'a\nbc', 3, 2, 2],
    ['behind CRLF', 'a\r\nbc', 4, 2, 2],
    ['the end', 'a\n', 2, 2, 1],
    ['behind a byte order mark', '\uFEFFab', 2, 1, 2],
  ])('%s', (_what, text, at, line, column) => {
    expect(locate(text, at)).toEqual({ line, column });
  });

  it('shows the line before, the line, and a caret below the place', () => {
    expect(codeFrame('var @ok = 1\nvar @a = [1, 2\nshow @a', 21)).toBe('1 | var @ok = 1\n2 | var @a = [1, 2\n  |          ^');
  });

  it('keeps the caret below its character behind tabs, and in a file with CRLF', () => {
    expect(codeFrame('\tshow 5\r\n', 6)).toBe('1 | \tshow 5\n  | \t     ^');
  });

  it.each([
    ['show "日本" 5', '          '],
    ['show "😀" 5', '        '],
    ['show "e\u0301" 5', '       '],
    ['show "é" 5', '       '],
  ])('counts the columns that a terminal draws: %s', (line, blanks) => {
    expect(codeFrame(line, line.length - 2)).toBe(`1 | ${line}\n  | ${blanks} ^`);
  });

  it('aligns the numbers of lines', () => {
    expect(codeFrame('\n'.repeat(8) + 'a\nb', 10)).toBe(' 9 | a\n10 | b\n   | ^');
  });
});

describe('what surrounds a script', () => {
  const kinds = (text: string) => parseScript(text, { mode: 'strict' }).statements.map((statement) => statement.kind);

  it('may be a byte order mark, leading blanks, slashes, CRLF and comments of both kinds', () => {
    expect(kinds('\uFEFF  show "a" >> note\r\n\t/show "b"\r\n# remark\r\n<< remark\r\nshow "c" # note')).toEqual(['show', 'show', 'show']);
  });

  it('may be a header and frontmatter', () => {
    const script = parseScript('Resume:"AUTO"\n---\ntitle: Log\n---\nshow "a"', { mode: 'strict' });
    expect(script.resume).toBe('auto');
    expect(script.frontmatter?.text).toBe('title: Log\n');
    expect(parseScript("resume: 'never'", { mode: 'markdown' }).resume).toBe('never');
  });

  it('may be a header of several lines, in any order', () => {
    const expected = { resume: 'auto', budget: { value: '5usd, 300calls' } };
    const header = (text: string) => parseScript(`${text}\nshow "a"`, { mode: 'strict' });
    expect(header('resume: auto\nbudget: 5usd, 300calls')).toMatchObject({ ...expected, budget: { at: 13 } });
    expect(header('Budget: "5usd, 300calls"\nresume: auto')).toMatchObject(expected);
    expect(header('budget: 3h').resume).toBeUndefined();
  });

  it('returns the offset of every statement and name', () => {
    const [first, second] = parseScript('show "a"\n  var @b = 1', { mode: 'strict' }).statements;
    expect(first?.at).toBe(0);
    expect(second).toMatchObject({ at: 11, nameAt: 15 });
  });
});
