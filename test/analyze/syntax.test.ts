import { describe, expect, it } from 'vitest';
import { analyze, errorLines } from './support/files-in-memory.js';

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
    ['the last statement', 'var @a = 1\nshow', [2]],
  ];
  it.each(rows)('%s', async (_about, source, lines) => {
    const { errors = [], warnings, valid } = await analyze(source);
    expect(errors.map(({ line }) => line)).toEqual(lines);
    expect(errors.map(({ code }) => code)).toEqual(lines.map(() => 'syntax'));
    expect([warnings, valid]).toEqual([undefined, false]);
  });

  it('stops at the first of a document, where statements stand among prose', async () => {
    const report = await analyze('Prose\n\n/var @ = 1\n\nvar x is prose\n\n/var @ = 2\n', { main: 'main.md' });
    expect(errorLines(report)).toEqual(['3:2 syntax']);
  });

  it('finds those of templates', async () => {
    const report = await analyze('a\n/end\n', { main: 'main.att' });
    expect(report.valid).toBe(false);
    expect(report.errors?.[0]?.line).toBe(2);
  });
});
