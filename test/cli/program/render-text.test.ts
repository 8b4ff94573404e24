import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderEntries } from '../../../cli/render/reports/checkpoint.js';
import { columnsOf } from '../../../grammar/columns.js';
import { wrap, wrapAll, widthOf } from '../../../cli/render/wrap.js';
import { clip, oneLine } from '../../../cli/render/one-line.js';
import { renderVariables } from '../../../cli/render/reports/replay.js';
import { shellWords } from '../../../journal/shell-words.js';
import { styleFor, type Style } from '../../../cli/render/style.js';
import { table, tableLines } from '../../../cli/render/table.js';
import { duration, money, time } from '../../../cli/render/units.js';
import type { Value } from '../../../src/values/value.js';

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
  expect([money(0.00123), money(0.01234), money(12.345)]).toEqual(['$0.0012', '$0.01', '$12.35']);
  expect([money(0), money(0.00005), money(0.000049), money(1e-9)]).toEqual(['$0.00', '$0.0001', '<$0.0001', '<$0.0001']);
});

it('lets no control sequence through to a terminal', () => {
  expect(oneLine('a\nb\r\nc\u001B[2Jd\u0007')).toBe('a\\nb\\nc\\u001b[2Jd\\u0007');
});

it('keeps a line of a report on one line, where a name of a journal has line breaks', () => {
  for (const columns of [undefined, 40]) {
    const lines = wrapAll(['  @a\r\nError: forged(x) executed', 'b\nc'], { ...styleFor(false), columns });
    expect(lines.join('\n')).toBe('  @a\\nError: forged(x) executed\nb\\nc');
  }
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
        [{ text: 'longer', style: red }, '100', ''],
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

const within = (columns: number | undefined): Style => ({ ...styleFor(true), columns });

describe('a line that is longer than the terminal is wide', () => {
  it('is broken between words, and goes on deeper', async () => {
    expect(wrap('  one two three four', within(12))).toEqual(['  one two', '   three', '   four']);
    expect(wrap('one two three four', within(12))).toEqual(['one two', '  three four']);
    expect(wrap('one two', within(7))).toEqual(['one two']);
  });

  it('is not broken outside a terminal, nor is a word that is too long', async () => {
    expect(wrap('one two three four', within(undefined))).toEqual(['one two three four']);
    expect(wrap('a main/for#0[17]/review#0 b', within(12))).toEqual(['a', '  main/for#0[17]/review#0', '  b']);
  });

  it('is measured by what is drawn', async () => {
    const style = within(12);
    expect(wrap(`${style.green('served')} ${style.bold('twice')}`, style)).toHaveLength(1);
    expect(wrap('潮汐潮汐 潮汐', style)).toEqual(['潮汐潮汐', '  潮汐']);
  });

  it('loses no word, and is within the terminal but for words that are longer', async () => {
    const word = fc.string({ unit: fc.constantFrom('a', '潮', '#', 'é'), minLength: 1, maxLength: 9 });
    const style = within(24);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), fc.nat(12), (words, margin) => {
        const lines = wrap(' '.repeat(margin) + words.join(' '), style);
        expect(lines.flatMap((line) => line.trim().split(' '))).toEqual(words);
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(24);
      }),
    );
  });
});

it('shows variables on a line each, within the terminal', () => {
  const variables = [
    { name: 'tide', value: 'ebb '.repeat(40) as Value },
    { name: 'depth', value: 3 as Value },
  ];
  const widths = (columns: number | undefined): number[] => renderVariables(variables, columns).split('\n').map(widthOf);
  expect(widths(undefined)).toEqual([108, 10, 0]);
  expect(widths(80)).toEqual([80, 10, 0]);
  expect(widths(10)).toEqual([28, 10, 0]);
});

it('puts columns that have no room below each row', async () => {
  const columns = [{ title: 'RUN' }, { title: 'TOOK', align: 'right' as const }, { title: 'IN CALLS' }];
  const rows = [
    ['20261121-1', '7ms', '3ms'],
    ['20261121-2', '12ms', '-'],
  ];
  const shown = async (width: number | undefined): Promise<readonly string[]> => {
    const style = { ...styleFor(false), columns: width };
    return table(columns, rows, style);
  };
  expect(await shown(undefined)).toEqual(['RUN         TOOK  IN CALLS', '20261121-1   7ms  3ms', '20261121-2  12ms  -']);
  expect(await shown(26)).toEqual(await shown(undefined));
  expect(await shown(25)).toEqual(['RUN         TOOK', '20261121-1   7ms', '  in calls 3ms', '20261121-2  12ms']);
  expect((await shown(18))[2]).toBe('  in calls 3ms');
  expect((await shown(5)).slice(0, 2)).toEqual(['RUN', '20261121-1']);
});
