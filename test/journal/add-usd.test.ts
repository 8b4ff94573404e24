import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addUsd } from '../../journal/facts/add-usd.js';

const sumOf = (amounts: readonly number[]): number => amounts.reduce(addUsd, 0);

it.each([
  [[0.1, 0.1, 0.1], 0.3],
  [[0.1, 0.2], 0.3],
  [[1.000_000_1, 0.000_000_2], 1.000_000_3],
  [[0.7, -0.6], 0.1],
])('adds %j to what an accountant would print', (amounts, sum) => {
  expect(JSON.stringify(sumOf(amounts))).toBe(String(sum));
});

it('gives the same sum in any order and grouping', () => {
  const amounts = fc.array(fc.double({ min: 0, max: 1000, noNaN: true }), { maxLength: 50 });
  fc.assert(
    fc.property(amounts, fc.nat(50), (all, cut) => {
      const parts = [all.slice(cut), all.slice(0, cut)].map(sumOf);
      expect(sumOf(parts)).toBe(sumOf(all));
      expect(sumOf(all.toReversed())).toBe(sumOf(all));
    }),
  );
});

it('keeps an amount that has no billionths', () => {
  expect(addUsd(1e300, 1)).toBe(1e300);
});
