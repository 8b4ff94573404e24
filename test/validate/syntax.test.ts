import { describe, expect, it } from 'vitest';
import { analyze, errorLines, UNREADABLE } from './support/files-in-memory.js';

describe('syntax errors', () => {
  const rows: readonly (readonly [about: string, source: string, lines: readonly number[]])[] = [
    ['one', 'show "1"\nvar @ = 1', [2]],
    ['several statements', 'var @ = 1\nshow "fine"\nvar x = 2\nshow "3"\nexe f() = 1', [1, 3, 5]],
    ['a statement over several lines', 'when [\n  true => show "1",\n  * => show "2"\n]\nvar @ = 1', [2, 5]],
    ['no further error behind an open bracket', 'var @a = [1, 2\nshow `x`\nvar @b = 1', [1]],
    ['no further error behind an open template', 'var @a = `text\nvar is a word, and run too', [1]],
    ['no further error inside a template', 'show @a.. `\nvar x\n`\nshow "1"', [1]],
    ['no name is checked in what is left', 'var @ = 1\nshow @ghost', [1]],
    ['misspelt words, one behind the other', 'var @x = 1\nshwo @x\nvra @y = 1\nexprot { @x }\nshow @x', [2, 3, 4]],
    ['behind a template that holds such words', 'vra @x = `\nshow me\nvra @y\n`\nshwo @x', [1, 5]],
    ['no further error in the lines of code', 'vra @f() = sh {\necho "a"\nvar @x\n}\nshow "1"', [1]],
    ['no further error where a statement goes on', 'if @x [\n  shwo "1"\n]\nelse [\n  show "2"\n]\nshow "3"', [2]],
    ['no further error for each line of prose', 'This is no script.\nIt says something,\nand more of it.', [1]],
    ['a text that is not closed', 'show "a\nshow "b"\nvar @ = 1\nshow "c', [1, 3, 4]],
    ['the last statement', 'var @a = 1\nshow', [2]],
  ];
  it.each(rows)('%s', async (_about, source, lines) => {
    const { errors = [], warnings, valid } = await analyze(source);
    expect(errors.map(({ line }) => line)).toEqual(lines);
    expect(errors.map(({ code }) => code)).toEqual(lines.map(() => 'syntax'));
    expect([warnings, valid]).toEqual([undefined, false]);
  });

  const documents: readonly (readonly [about: string, source: string, found: readonly string[]])[] = [
    ['among prose', 'Prose\n\n/var @ = 1\n\nvar x is prose (as is `this\n\n/var @ = 2\n', ['3:2', '7:2']],
    ['one behind the other', '/var @ = 1\n/show "a\n/var x = 1\n/show "fine"\n', ['1:2', '2:7', '3:6']],
    ['over several lines', '/when [\n  true => show "1",\n]\n\nIt goes on.\n\n/var @ = 1\n', ['2:19', '7:2']],
    ['an open bracket', '/var @a = [1, 2\n\nprose\n\n/show `@ghost`\n\n/var x = 1\n', ['3:1', '7:6']],
    ['an open template', '/var @a = `text\n\n/show "part of it"\n', ['1:11']],
    ['fences that run', 'a\n```mlld-run\nvar @ = 1\nshow "a"\nvar x = 1\n```\n\n```\n/var x\n```\n\n/var y = 1\n', ['3:1', '5:5', '12:6']],
    ['an open bracket in a fence', '```mlld-run\nvar @a = [1\nshow "a"\n```\n\n```mlld-run\nvar x = 1\n```\n', ['2:10', '7:5']],
    ['a fence that is not closed', 'a\n```mlld-run\nvar @a = 1\n', ['2:1']],
    ['behind frontmatter', '---\na: 1\n---\n/var x = 1\n/var y = 1\n', ['4:6', '5:6']],
  ];
  it.each(documents)('of a document: %s', async (_about, source, found) => {
    const report = await analyze(source, { main: 'main.md' });
    expect(errorLines(report)).toEqual(found.map((place) => `${place} syntax`));
  });

  it('gives up soon on a large file with an open bracket', async () => {
    const report = await analyze(`var @a = [1,\n${'show "a"\n'.repeat(100_000)}`);
    expect(errorLines(report)).toEqual(['1:10 syntax']);
  });

  it.each(['main.mld', 'main.md', 'main.att'])('reports that %s exists but cannot be read', async (main) => {
    const { errors, valid } = await analyze({ [main]: UNREADABLE }, { main });
    expect([errors?.map(({ code }) => code), valid]).toEqual([['unreadable'], false]);
  });

  it('finds the syntax errors of templates', async () => {
    const report = await analyze('a\n/end\n', { main: 'main.att' });
    expect(report.valid).toBe(false);
    expect(report.errors?.[0]?.line).toBe(2);
  });
});
