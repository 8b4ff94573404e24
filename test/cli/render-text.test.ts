import { describe, expect, it } from 'vitest';
import { renderEntries } from '../../cli/render/checkpoint.js';
import { columnsOf } from '../../grammar/columns.js';
import { clip, oneLine } from '../../cli/render/one-line.js';
import { shellWords } from '../../cli/render/shell.js';
import { tableLines } from '../../cli/render/table.js';
import { duration, money, time } from '../../cli/render/units.js';

it.each([
  [0, '0ms'],
  [999, '999ms'],
  [1000, '1.0s'],
  [59_949, '59.9s'],
  [59_950, '1m00s'],
  [252_000, '4m12s'],
  [3_780_000, '1h03m'],
])('shows %i ms as %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

it('shows times in UTC and small sums exactly', () => {
  expect(time(Date.UTC(2026, 10, 21, 8, 45, 12, 999))).toBe('2026-11-21 08:45:12Z');
  expect([money(0.01234), money(12.345)]).toEqual(['$0.0123', '$12.35']);
});

it('lets no control sequence through to a terminal', () => {
  expect(oneLine('a\nb\r\nc\u001B[2Jd\u0007')).toBe('a\\nb\\nc [2Jd ');
});

it('never cuts a character in two', () => {
  expect(clip('🐦🐦🐦', 6)).toBe('🐦🐦🐦');
  expect(clip('🐦🐦🐦🐦', 6)).toBe('🐦...');
  expect(clip('a👩‍👩‍👧 and others', 7)).toBe('a...');
  expect(clip('e\u0301e\u0301e\u0301e\u0301', 6)).toBe('e\u0301...');
});

it.each([
  ['tide', 4],
  ['潮汐', 4],
  ['🐦', 2],
  ['👩‍👩‍👧', 2],
  ['❤️', 2],
  ['e\u0301', 1],
  ['é\u200B', 1],
  ['', 0],
])('knows the columns of %s', (text, columns) => {
  expect(columnsOf(text)).toBe(columns);
});

it('aligns columns behind wide characters', () => {
  const lines = tableLines(
    [{ title: 'NAME' }, { title: 'N', align: 'right' }, { title: 'END' }],
    [
      ['潮汐', '1', 'x'],
      ['tide 🐦', '22', 'y'],
    ],
  );
  expect(lines).toEqual(['NAME      N  END', '潮汐      1  x', 'tide 🐦  22  y']);
});

it('gives words that a shell reads back', () => {
  expect(shellWords(['mlld', 'run', 'a.mld', '--topic', "low tide's", '--x', '', '@f("p")'])).toBe(
    `mlld run a.mld --topic 'low tide'\\''s' --x '' '@f("p")'`,
  );
});

it('pads columns around what is painted', () => {
  const red = (text: string): string => `<${text}>`;
  expect(
    tableLines(
      [{ title: 'NAME' }, { title: 'N', align: 'right' }, { title: 'END' }],
      [
        ['a', '1', 'x'],
        [{ text: 'longer', paint: red }, '100', ''],
      ],
    ),
  ).toEqual(['NAME      N  END', 'a         1  x', '<longer>  100']);
});

describe('the list of a checkpoint', () => {
  const entry = (preview?: string) => ({ fn: 'ask', preview });
  const list = (...previews: (string | undefined)[]) => renderEntries(previews.map(entry), { script: 'job.mld', name: 'job' });

  it('shows the first argument on one line', () => {
    expect(list('ebb tide', 'two\nlines', undefined, '')).toBe(
      'Checkpoint entries for job:\n- ask | ebb tide\n- ask | two\\nlines\n- ask | <empty>\n- ask | <empty>\nTotal: 4\n',
    );
  });

  it.each([
    [160, 'y'.repeat(160)],
    [161, `${'y'.repeat(157)}...`],
  ])('cuts %i characters at 160', (length, shown) => {
    expect(list('y'.repeat(length))).toContain(`- ask | ${shown}\n`);
  });

  it('says so when there is nothing', () => {
    expect(list()).toBe('No checkpoint entries found for "job.mld".\n');
  });
});
