/** An index on disk makes no difference to what is found, whatever the history, and whatever happens to its files. */
import fs from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Fact } from '../../../../journal/event.js';
import type { JournalStore } from '../../../../journal/store.js';
import { eventOf } from '../../../../replay/fold/projection.js';
import { followIndex, saveIndex, withoutPriorRuns } from '../../../../replay/memo/load.js';
import { tiersOf } from '../../../../replay/memo/tiers/changed-rows.js';
import { temporaryFolder } from '../../../journal/support/folder.js';
import { anyFacts } from '../../../support/any-run.js';
import { call, callKeyOf, finished, runRef, started } from '../../../support/written-runs.js';
import { append, essence, folded, indexFiles, load, NEVER, openStore, tiersIn } from './support.js';

const anyHistory = fc.array(anyFacts, { minLength: 1, maxLength: 5 });

/** Deletes, truncates, changes or replaces one of the files. */
function damage(root: string, pick: number): void {
  const files = indexFiles(root);
  const file = files[pick % Math.max(files.length, 1)];
  if (file === undefined) return;
  const content = fs.readFileSync(file);
  if (pick % 4 === 0) fs.rmSync(file);
  else if (pick % 4 === 1) fs.truncateSync(file, pick % (content.length + 1));
  else if (pick % 4 === 2) fs.writeFileSync(file, 'garbage\n{}');
  else flip(file, content, pick);
}

function flip(file: string, content: Buffer, at: number): void {
  if (content.length > 0) content[at % content.length]! ^= 1 << (at % 8);
  const opened = fs.openSync(file, 'r+'); // in place: a process that has the file open reads it
  fs.writeSync(opened, content);
  fs.closeSync(opened);
}

it('is folded on to what the fold of everything gives, whenever it was written and whatever happened to it', async () => {
  let tiers = 0;
  await fc.assert(
    fc.asyncProperty(anyHistory, fc.infiniteStream(fc.nat(9999)), async (runs, picks) => {
      const root = temporaryFolder();
      const store = openStore(root);
      const pick = (): number => picks.next().value as number;
      for (const [number, facts] of runs.entries()) {
        await append(store, number + 1, facts, async () => {
          const what = pick();
          if (what % 7 === 0) damage(root, pick());
          if (what % 5 > 0) return;
          const loaded = await load(openStore(root));
          if (what % 10 === 0) expect(essence(loaded)).toEqual(essence(await folded(store)));
        });
      }
      await load(store);
      const loaded = await load(store);
      if (tiersOf(loaded.memo) !== undefined) tiers++;
      expect(essence(loaded)).toEqual(essence(await folded(store)));
    }),
    { numRuns: 60 },
  );
  expect(tiers).toBeGreaterThan(10);
});

it('is kept current by a run that follows, and left as a reader of the journal finds it', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, fc.infiniteStream(fc.nat(9999)), async (runs, picks) => {
      const root = temporaryFolder();
      for (const [number, facts] of runs.entries()) {
        const store = openStore(root);
        const loaded = await load(store);
        const isFresh = (picks.next().value as number) % 5 === 0;
        const prior = isFresh ? withoutPriorRuns(loaded) : loaded;
        const ref = runRef(number + 1);
        const see = followIndex(prior, ref);
        const journal = await store.create(ref);
        const first = isFresh ? [{ type: 'memo.reset', reason: 'fresh' } as const] : [];
        const [start, ...rest] = facts;
        let last;
        for (const fact of [start!, ...first, ...rest.filter(({ type }) => type !== 'run.finished'), finished()]) {
          if ((picks.next().value as number) % 50 === 0) damage(root, picks.next().value as number);
          const recorded = journal.post(fact);
          see(eventOf(fact, recorded.seq, recorded.ts), recorded.position);
          last = recorded;
        }
        await journal.close();
        expect(essence(prior)).toEqual(essence(await folded(store)));
        await saveIndex(prior, ref.run, last!);
        expect(essence(await load(openStore(root), NEVER))).toEqual(essence(await folded(store)));
      }
    }),
    { numRuns: 60 },
  );
});

const texts = Array.from({ length: 12 }, (_, number) => `buoy ${number}`);

/** A past with two tiers, and some rows above them. */
async function pastWithTiers(root: string): Promise<void> {
  const store = openStore(root);
  const calls = (from: number, to: number): Fact[] =>
    texts.slice(from, to).flatMap((text, number) => call(`main/for#0[${from + number}]/ask#0`, text));
  await append(store, 1, [started(runRef(1)), ...calls(0, 9), finished()]);
  await load(store);
  await append(store, 2, [started(runRef(2)), ...calls(9, 11), finished()]);
  await load(store);
  await append(store, 3, [started(runRef(3)), ...call('main/ask#0', texts[11]!), finished()]);
  await load(store);
  expect(tiersIn(root)).toHaveLength(2);
}

it('of a long past gets tiers with the next events that are worth an index, where an older program wrote it without', async () => {
  const root = temporaryFolder();
  const older = Object.assign(Object.create(openStore(root)) as JournalStore, { indexFiles: undefined });
  const calls = texts.flatMap((text, number) => call(`main/for#0[${number}]/ask#0`, text));
  await append(older, 1, [started(runRef(1)), ...calls, finished()]);
  await load(older);
  expect([indexFiles(root).length, tiersIn(root).length]).toEqual([1, 0]);
  await load(openStore(root)); // nothing is new
  expect(tiersIn(root)).toEqual([]);
  await append(older, 2, [started(runRef(2)), finished()]);
  await load(openStore(root), NEVER); // too little is new
  expect(tiersIn(root)).toEqual([]);
  await load(openStore(root));
  expect(tiersIn(root)).toHaveLength(1);
  const loaded = await load(openStore(root));
  expect(tiersOf(loaded.memo)).toBeDefined();
  expect(essence(loaded)).toEqual(essence(await folded(openStore(root))));
});

/** The first row, and the keys and digests of the pages behind the last, are cut at each byte. */
function isNearAnEnd(at: number, size: number): boolean {
  return at < 200 || at > size - 400;
}

it('is made again when it is cut anywhere', { timeout: 120_000 }, async () => {
  const root = temporaryFolder();
  await pastWithTiers(root);
  const expected = essence(await folded(openStore(root)));
  for (const file of indexFiles(root)) {
    const content = fs.readFileSync(file);
    for (let length = 0; length <= content.length; length += isNearAnEnd(length, content.length) ? 1 : 37) {
      fs.writeFileSync(file, content.subarray(0, length));
      expect(essence(await load(openStore(root), NEVER))).toEqual(expected);
    }
  }
});

it('finds every result when a tier is damaged while it is open', { timeout: 120_000 }, async () => {
  const root = temporaryFolder();
  await pastWithTiers(root);
  const whole = essence(await folded(openStore(root)));
  let discarded = 0;
  for (const file of tiersIn(root)) {
    const content = fs.readFileSync(file);
    for (let at = 0; at < content.length; at += 7) {
      const store = openStore(root);
      const before = discarded;
      store.writeDerived = async (_workflow, name, written) => void (name === 'index' && written === '' && discarded++);
      const prior = await load(store, NEVER);
      const tiers = tiersOf(prior.memo)!;
      flip(file, Buffer.from(content), at);
      for (const text of texts) expect(prior.memo.entries.get(callKeyOf(text))).toMatchObject({ fn: 'ask', preview: text });
      expect(prior.memo.entries.get(callKeyOf('no call'))).toBeUndefined();
      expect(essence(prior)).toEqual(whole);
      expect(tiers.areDamaged).toBe(discarded > before); // the next start makes it again
      fs.writeFileSync(file, content);
    }
  }
  expect(discarded).toBeGreaterThan(100);
});

it('says that a tier is damaged where the runs can not be read without waiting, and takes no result from it', async () => {
  const root = temporaryFolder();
  await pastWithTiers(root);
  const store = openStore(root);
  const { scanNow: _scanNow, ...indexFiles } = store.indexFiles!;
  const prior = await load(Object.assign(Object.create(store) as JournalStore, { indexFiles }), NEVER);
  for (const file of tiersIn(root)) fs.writeFileSync(file, '');
  let failed = 0;
  for (const text of [...texts, ...texts]) {
    try {
      expect(prior.memo.entries.get(callKeyOf(text))).toMatchObject({ fn: 'ask', preview: text }); // of no tier
    } catch (error) {
      expect(error).toMatchObject({ code: 'JOURNAL_IO' });
      failed++;
    }
  }
  expect(failed).toBeGreaterThan(10);
});

it('finds every result when its files are deleted while they are open', async () => {
  const root = temporaryFolder();
  await pastWithTiers(root);
  const store = openStore(root);
  const prior = await load(store, NEVER);
  for (const file of indexFiles(root)) fs.rmSync(file);
  for (const text of texts) expect(prior.memo.entries.get(callKeyOf(text))).toMatchObject({ preview: text });
  expect(essence(prior)).toEqual(essence(await folded(store)));
});

it('is the same for all who write it at once', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, async (runs) => {
      const root = temporaryFolder();
      for (const [number, facts] of runs.entries()) {
        await append(openStore(root), number + 1, facts);
        await Promise.all([1, 2, 3].map(() => load(openStore(root))));
        expect(essence(await load(openStore(root), NEVER))).toEqual(essence(await folded(openStore(root))));
      }
    }),
    { numRuns: 40 },
  );
});
