import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { CallKey } from '../../../../journal/ids.js';
import { mergeRows, tiersToKeep } from '../../../../replay/memo/tiers/merge-rows.js';
import type { Row } from '../../../../replay/memo/tiers/row.js';

const anySource = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  fc.record({ order: fc.nat(), calledIn: fc.nat() }, { requiredKeys: [] }),
);

const rowsOf = (source: { readonly [key: string]: object }): Row[] =>
  Object.keys(source)
    .sort()
    .map((key) => ({ key: key as CallKey, ...source[key] }));

it('merges rows to one for each key, sorted, with the newest of each member', () => {
  fc.assert(
    fc.property(fc.array(anySource, { maxLength: 4 }), (sources) => {
      const expected: { [key: string]: object } = {};
      for (const source of sources) for (const [key, row] of Object.entries(source)) expected[key] = { ...expected[key], ...row };
      const bare = JSON.parse(JSON.stringify([...mergeRows(sources.map((source) => rowsOf(source).values()))]));
      expect(bare).toEqual(rowsOf(expected));
    }),
  );
});

it('keeps tiers few, and rewrites a row a few times only', () => {
  let tiers: number[] = [];
  let [written, most] = [0, 0];
  for (let added = 0; added < 1000; added++) {
    const kept = tiersToKeep(tiers, 1000);
    const merged = tiers.slice(kept).reduce((sum, rows) => sum + rows, 1000);
    tiers = [...tiers.slice(0, kept), merged];
    written += merged;
    most = Math.max(most, tiers.length);
  }
  expect(tiers.reduce((sum, rows) => sum + rows, 0)).toBe(1_000_000);
  expect(most).toBeLessThan(8);
  expect(written / 1_000_000).toBeLessThan(12);
});
