import { describe, expect, it } from 'vitest';
import type { Json } from '../../../journal/event.js';
import { argumentDifferences } from '../../../replay/reports/explain/argument-diff.js';

const difference = (before: Json, now: Json): unknown => argumentDifferences([before], [now])[0];

describe('how arguments differ', () => {
  it('is told with the words around the change', () => {
    const before = 'You are a careful reviewer. Read the file docs/a.md and report every fault that you find in it.';
    expect(difference(before, before.replace('careful', 'kind'))).toEqual({
      where: 'argument 1',
      was: 'You are a careful reviewer. Read…',
      is: 'You are a kind reviewer. Read…',
    });
    expect(difference(before, `${before} Be brief.`)).toEqual({
      where: 'argument 1',
      was: '…you find in it.',
      is: '…you find in it. Be brief.',
    });
  });

  it('names the member that changed', () => {
    const files = (name: string): Json => ({ model: 'sonnet', files: [{ name: 'a' }, { name }] });
    expect(difference(files('b'), files('c'))).toEqual({ where: 'argument 1.files[1].name', was: 'b', is: 'c' });
  });

  it('tells what came and what went, and other kinds', () => {
    expect(argumentDifferences(['x'], ['x', 'opus'])).toEqual([{ where: 'argument 2', is: 'opus' }]);
    expect(argumentDifferences(['x', 5], ['x'])).toEqual([{ where: 'argument 2', was: '5' }]);
    expect(argumentDifferences([5, null], ['5', null])).toEqual([{ where: 'argument 1', was: '5', is: '5' }]);
    expect(difference({ a: 1, b: 2 }, { b: 2, c: null })).toEqual({ where: 'argument 1.a', was: '1' });
    expect(argumentDifferences(['same', [1, { a: 'b' }]], ['same', [1, { a: 'b' }]])).toEqual([]);
  });

  it('stays short, whatever the arguments are, and never cuts a character in two', () => {
    const differences = argumentDifferences(
      Array.from({ length: 100 }, () => 'a'.repeat(10_000)),
      Array.from({ length: 100 }, () => '😀'.repeat(10_000)),
    );
    expect(differences).toHaveLength(10);
    for (const { was = '', is = '' } of differences) {
      expect(was.length).toBeLessThanOrEqual(62);
      expect(is.length).toBeLessThanOrEqual(62);
      expect(Buffer.from(is).toString() === is).toBe(true);
    }
  });
});
