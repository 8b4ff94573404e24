/** States over tiers behave as a `Map` that holds all of them. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { CallKey } from '../../../../journal/ids.js';
import type { Row } from '../../../../replay/memo/tiers/row.js';
import { Tier, writeTier } from '../../../../replay/memo/tiers/tier.js';
import { TieredMap } from '../../../../replay/memo/tiers/tiered-map.js';
import { TieredRows } from '../../../../replay/memo/tiers/tiered-rows.js';
import { temporaryFolder } from '../../../journal/support/folder.js';
import { JOB } from '../../../support/written-runs.js';
import { openStore } from './support.js';

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f'] as readonly string[] as readonly CallKey[];
const anyKey = fc.constantFrom(...KEYS);

type Act = readonly ['set', CallKey, number] | readonly ['delete' | 'get', CallKey] | readonly ['clear' | 'detach' | 'list' | 'size'];

const anyAct: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant('set' as const), anyKey, fc.nat()) },
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom('delete' as const, 'get' as const, 'get' as const), anyKey) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom('clear' as const, 'detach' as const, 'list' as const, 'size' as const)) },
);

it('gives what a map gives, also when the tiers are damaged', async () => {
  const files = openStore(temporaryFolder()).indexFiles!;
  const damaged: typeof files = {
    ...files,
    open(workflow, name) {
      const file = files.open(workflow, name)!;
      const read = (offset: number, bytes: number): Uint8Array => {
        const content = file.read(offset, bytes);
        if (offset === 0) content.fill(0, 0, 1); // the first page
        return content;
      };
      return { bytes: file.bytes, read };
    },
  };
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(anyKey), fc.nat(6), fc.array(anyAct), fc.boolean(), async (keys, cut, acts, isDamaged) => {
      const rows = keys.map((key, order): Row => ({ key, order, calledIn: order }));
      const tiers: Tier[] = [];
      for (const part of [rows.slice(0, cut), rows.slice(cut)]) {
        const sorted = part.toSorted((one, other) => (one.key < other.key ? -1 : 1));
        const info = await writeTier(files, JOB, sorted);
        tiers.push(Tier.open(isDamaged && info.rows > 0 ? damaged : files, JOB, info)!);
      }
      const map = new Map(rows.map(({ key, calledIn }) => [key, calledIn!]));
      const initially = new Set(map.keys());
      const tiered = new TieredMap<number>(new TieredRows(tiers, () => rows), ({ calledIn }) => calledIn, { notesNew: true });
      for (const [act, key, state] of acts) {
        if (act === 'set') expect([tiered.set(key, state), map.set(key, state)]).toBeDefined();
        else if (act === 'delete') expect(tiered.delete(key)).toBe(map.delete(key));
        else if (act === 'get') expect([tiered.get(key), tiered.has(key)]).toEqual([map.get(key), map.has(key)]);
        else if (act === 'list') expect([...tiered]).toEqual([...map]);
        else if (act === 'size')
          expect([tiered.size, [...tiered.keys()], [...tiered.values()]]).toEqual([map.size, [...map.keys()], [...map.values()]]);
        else if (act === 'clear') expect([tiered.clear(), map.clear()]).toBeDefined();
        else tiered.detach();
      }
      if (tiered.below !== undefined) for (const key of tiered.changes.keys()) expect(tiered.isNew(key)).toBe(!initially.has(key));
      else expect([...tiered.changes]).toEqual([...map]);
      expect([...tiered]).toEqual([...map]);
    }),
  );
});
