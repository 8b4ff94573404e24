/** A long past in a store without files of an index: its calls are looked up in the index, and nothing else differs. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../journal/canonical.js';
import type { CallKey } from '../../../journal/ids.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import { eventOf } from '../../../replay/fold/projection.js';
import { followIndex, saveIndex } from '../../../replay/memo/load.js';
import type { Memo } from '../../../replay/memo/memo.js';
import { packRows, unpackKeys, type PackedRows } from '../../../replay/memo/packed/packed-rows.js';
import { PackedReader, unpackRows } from '../../../replay/memo/packed/packed-reader.js';
import { RowsInIndex } from '../../../replay/memo/packed/rows-in-index.js';
import type { Row } from '../../../replay/memo/tiers/row.js';
import { TieredMap } from '../../../replay/memo/tiers/tiered-map.js';
import { anyFacts } from '../../support/any-run.js';
import { finished, runRef } from '../../support/written-runs.js';
import { append, ENTRY, essence, folded, load } from './tiers/support.js';

const anyHistory = fc.array(anyFacts, { minLength: 1, maxLength: 5 });

const looksUp = ({ entries }: Memo): boolean => entries instanceof TieredMap && entries.below instanceof RowsInIndex;

describe('an index that holds all calls', () => {
  it('is folded on to what the fold of everything gives, whenever it was written', async () => {
    let lookedUp = 0;
    await fc.assert(
      fc.asyncProperty(anyHistory, fc.infiniteStream(fc.nat(9999)), async (runs, picks) => {
        const store = openMemoryStore();
        for (const [number, facts] of runs.entries()) {
          await append(store, number + 1, facts, async () => {
            const what = picks.next().value as number;
            if (what % 5 > 0) return;
            const loaded = await load(store);
            if (what % 10 === 0) expect(essence(loaded)).toEqual(essence(await folded(store)));
          });
        }
        await load(store);
        const loaded = await load(store);
        if (looksUp(loaded.memo)) lookedUp++;
        expect(essence(loaded)).toEqual(essence(await folded(store)));
      }),
      { numRuns: 60 },
    );
    expect(lookedUp).toBeGreaterThan(10);
  });

  it('is kept current by a run that follows, and is written whole at its end', async () => {
    let lookedUp = 0;
    await fc.assert(
      fc.asyncProperty(anyHistory, async (runs) => {
        const store = openMemoryStore();
        for (const [number, facts] of runs.entries()) {
          const prior = await load(store);
          if (looksUp(prior.memo)) lookedUp++;
          const ref = runRef(number + 1);
          const see = followIndex(prior, ref);
          const journal = await store.create(ref);
          let last;
          for (const fact of [...facts.filter(({ type }) => type !== 'run.finished'), finished()]) {
            last = journal.post(fact);
            see(eventOf(fact, last.seq, last.ts), last.position);
          }
          await journal.close();
          await saveIndex(prior, ref.run, last!);
        }
        expect(essence(await load(store))).toEqual(essence(await folded(store)));
      }),
      { numRuns: 60 },
    );
    expect(lookedUp).toBeGreaterThan(10);
  });
});

const LONG = 'The captain asks for the soundings of the northern channel, and the pilot for those of the ';
const anyPreview = fc.oneof(
  fc.constant(undefined),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.nat(9).map((n) => `${LONG}${n}`),
  fc.nat(9).map((n) => `${n} ${LONG}`),
);

const keyOf = (n: number): CallKey => sha256(`call ${n}`);

function written(rows: readonly Row[]): { readonly packed: PackedRows; readonly reader: PackedReader } {
  const packed = JSON.parse(JSON.stringify(packRows(rows))) as PackedRows;
  return { packed, reader: new PackedReader(packed, [[]]) };
}

describe('rows in an index', () => {
  it('are read in any order as they were written', () => {
    fc.assert(
      fc.property(
        fc.array(anyPreview, { maxLength: 400, size: 'max' }),
        fc.array(fc.nat(400), { maxLength: 40 }),
        fc.nat(3),
        (previews, asked, others) => {
          const rows = previews.map((preview, n): Row => {
            const within = n % 7 === 3 ? [keyOf(n - 1), keyOf(10_000)] : undefined;
            return { key: keyOf(n), order: n, entry: n % 11 === 5 ? undefined : { ...ENTRY, preview }, calledIn: n % 3, within };
          });
          const { packed, reader } = written(rows);
          const count = Math.max(0, rows.length - others);
          const found = RowsInIndex.of(packed, reader, count)!;
          const whole = (row: Row): Row => row;
          for (const n of asked) expect(found.find(keyOf(n), whole)).toEqual(n < count ? rows[n] : undefined);
          expect([found.all(), found.rewritten]).toEqual([rows.slice(0, count), count]);
          for (const n of asked) expect(found.find(keyOf(n), whole)).toEqual(n < count ? rows[n] : undefined);
          const inOrder: unknown[] = [];
          unpackRows(new PackedReader(packed, [[]]), unpackKeys(packed), (_key, entry) => void inOrder.push(entry));
          expect(inOrder).toEqual(rows.map(({ entry }) => entry));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('have no look-up where a key is no digest', () => {
    const { packed, reader } = written([{ key: 'k1' as CallKey, order: 0, entry: ENTRY }]);
    expect(RowsInIndex.of(packed, reader, 1)).toBeUndefined();
  });

  it('find calls whose digests begin alike', () => {
    const keys = Array.from({ length: 20 }, (_, n) => `sha256:${'0'.repeat(62)}${String(n).padStart(2, '0')}` as CallKey);
    const { packed, reader } = written(keys.map((key, order) => ({ key, order, entry: { ...ENTRY, preview: `${order}` } })));
    const rows = RowsInIndex.of(packed, reader, 20)!;
    expect(keys.map((key) => rows.find(key, ({ entry }) => entry?.preview))).toEqual(keys.map((_, n) => `${n}`));
    expect(rows.find(`sha256:${'0'.repeat(62)}99` as CallKey, ({ entry }) => entry)).toBeUndefined();
  });
});
