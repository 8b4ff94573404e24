/** One tier: what was written is found, and nothing else. */
import fs from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { seqOf, type CallKey } from '../../../../journal/ids.js';
import type { MemoEntry } from '../../../../replay/memo/memo.js';
import type { Row } from '../../../../replay/memo/tiers/row.js';
import { DamagedTier, Tier, writeTier } from '../../../../replay/memo/tiers/tier.js';
import { temporaryFolder } from '../../../journal/support/folder.js';
import { callKeyOf, FINGERPRINT, JOB, runRef } from '../../../support/written-runs.js';
import { openStore, tiersIn } from './support.js';

const anyText = fc.option(fc.string({ unit: 'binary' }), { nil: undefined });
const anyEntry: fc.Arbitrary<MemoEntry> = fc.record({
  fn: fc.constantFrom('ask', 'judge', ''),
  fingerprint: fc.constantFrom(FINGERPRINT, undefined),
  site: anyText,
  declared: anyText,
  preview: anyText,
  attempt: fc.option(fc.nat(), { nil: undefined }),
  scope: anyText,
  inside: fc.constantFrom([], ['survey'], ['outer', 'survey']),
  result: fc.option(
    fc.record({
      ref: fc.nat(3).map((number) => runRef(number)),
      seq: fc.nat().map(seqOf),
      position: fc.record({ offset: fc.maxSafeNat(), bytes: fc.nat() }),
      form: fc.constantFrom('text' as const, 'word' as const, undefined),
      sealed: fc.boolean(),
      carries: fc.boolean(),
      hasFiles: fc.boolean(),
      hasUsage: fc.boolean(),
      isIncomplete: fc.boolean(),
      endedMs: fc.constantFrom(Number.NaN, 1_767_225_600_000, 0.5),
      elapsedMs: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map((ms) => ms + 0), // a duration is never -0
      sizeBytes: fc.nat(),
      costUsd: fc.constantFrom(undefined, 0, 0.0015),
      insideUsd: fc.constantFrom(undefined, 0, 0.25),
    }),
    { nil: undefined },
  ),
});
const anyRow: fc.Arbitrary<Row> = fc.record({
  key: fc.oneof(
    fc.nat(400).map((number) => callKeyOf(`buoy ${number}`)),
    fc.string({ unit: 'binary' }).map((text) => text as CallKey),
  ),
  order: fc.option(fc.nat(), { nil: undefined }),
  entry: fc.option(anyEntry, { nil: undefined }),
  calledIn: fc.option(fc.nat(), { nil: undefined }),
  within: fc.option(fc.array(fc.constant(callKeyOf('around'))), { nil: undefined }),
});
/** Enough for several pages. */
const anyRows = fc
  .uniqueArray(anyRow, { selector: ({ key }) => key, maxLength: 200, size: 'max' })
  .map((rows) => rows.sort((one, other) => (one.key < other.key ? -1 : 1)));

it('finds the rows that were written and no others, one by one and all together', async () => {
  const store = openStore(temporaryFolder());
  const files = store.indexFiles!;
  await fc.assert(
    fc.asyncProperty(anyRows, fc.nat(400), async (rows, other) => {
      const info = await writeTier(files, JOB, rows);
      expect(info.rows).toBe(rows.length);
      const tier = Tier.open(files, JOB, info)!;
      expect([...tier.rows()]).toEqual(rows);
      for (const row of rows) expect(tier.find(row.key)).toEqual(row);
      const absent = callKeyOf(`buoy ${other}`);
      expect(tier.find(absent)).toEqual(rows.find(({ key }) => key === absent));
    }),
    { numRuns: 60 },
  );
});

const many = (count: number): Row[] =>
  Array.from({ length: count }, (_, number): Row => ({ key: callKeyOf(`buoy ${number}`), order: number, calledIn: 1 })).sort(
    (one, other) => (one.key < other.key ? -1 : 1),
  );

it('reads a page for a look-up, and no more of the file than it has however many are looked up', async () => {
  const store = openStore(temporaryFolder());
  const files = store.indexFiles!;
  const rows = many(60_000);
  const info = await writeTier(files, JOB, rows);
  let reads = 0;
  let bytes = 0;
  const counted: typeof files = {
    ...files,
    open(workflow, name) {
      const file = files.open(workflow, name)!;
      const read = (offset: number, length: number): Uint8Array => {
        reads++;
        bytes += length;
        return file.read(offset, length);
      };
      return { bytes: file.bytes, read };
    },
  };
  const tier = Tier.open(counted, JOB, info)!;
  [reads, bytes] = [0, 0];
  expect(tier.find(callKeyOf('buoy 777'))).toMatchObject({ order: 777 });
  expect(reads).toBe(1);
  expect(bytes).toBeLessThan(20_000);
  for (const { key } of rows.toSorted((one, other) => (one.order ?? 0) - (other.order ?? 0))) tier.find(key);
  expect(bytes).toBeLessThan(3 * info.pagesBytes);
});

it('is not opened when its end is not the one that the index names', async () => {
  const root = temporaryFolder();
  const files = openStore(root).indexFiles!;
  const info = await writeTier(files, JOB, many(10));
  expect(Tier.open(files, JOB, { ...info, name: 'b-00000000' })).toBeUndefined();
  const [file] = tiersIn(root);
  const content = fs.readFileSync(file!);
  content[content.length - 3]! ^= 1;
  fs.writeFileSync(file!, content);
  expect(Tier.open(files, JOB, info)).toBeUndefined();
});

it('refuses a page that was changed', async () => {
  const root = temporaryFolder();
  const files = openStore(root).indexFiles!;
  const info = await writeTier(files, JOB, many(10));
  const [file] = tiersIn(root);
  const content = fs.readFileSync(file!);
  content[100]! ^= 1;
  fs.writeFileSync(file!, content);
  const tier = Tier.open(files, JOB, info)!;
  expect(() => tier.find(callKeyOf('buoy 1'))).toThrow(DamagedTier);
  expect(() => [...tier.rows()]).toThrow(DamagedTier);
});
