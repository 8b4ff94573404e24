import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { seqOf } from '../../../journal/ids.js';
import { openFileStore } from '../../../journal/storage/file-store.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { Defect, Journal, JournalStore, Recorded } from '../../../journal/store.js';
import { followIndex, concurrentRuns, loadWorkflow, saveIndex, withoutPriorRuns, type PriorRuns } from '../../../replay/memo/load.js';
import { summariseRun } from '../../../replay/reports/summary/summarise-run.js';
import { resolveTarget } from '../../../replay/resume/resolve-target.js';
import { readResult } from '../../../replay/memo/read-result.js';
import { usableEntry, usable } from '../../../replay/memo/memo.js';
import { eventOf, fold, type Entry } from '../../../replay/fold/projection.js';
import { parseSelector } from '../../../replay/resume/selector.js';
import { decodeSnapshot, captureIndex, encodeIndex, index } from '../../../replay/memo/snapshot.js';
import { call, entries, finished, JOB, callKeyOf, runRef, started } from '../../support/written-runs.js';
import { temporaryFolder } from '../../journal/support/folder.js';

/** The file store is the one that users have; what needs a hand in the store itself is tried on both as well. */
const STORES: readonly (readonly [string, () => JournalStore])[] = [
  ['memory', openMemoryStore],
  ['file', () => openFileStore(temporaryFolder())],
];

let store: JournalStore;
let scans: { readonly run: string; readonly from: number }[];
const defects: Defect[] = [];
const onDefect = (defect: Defect): void => void defects.push(defect);
const load = (): Promise<PriorRuns> => loadWorkflow(store, JOB, { onDefect });

function open(openStore: () => JournalStore): void {
  store = openStore();
  scans = [];
  const { scan } = store;
  store.scan = (ref, visit, options) => {
    scans.push({ run: ref.run, from: options?.from?.offset ?? 0 });
    return scan.call(store, ref, visit, options);
  };
}

async function begin(number: number, ...facts: readonly Fact[][]): Promise<Journal> {
  const ref = runRef(number);
  const journal = await store.create(ref);
  for (const fact of [started(ref), ...facts.flat()]) journal.post(fact);
  await journal.flush();
  return journal;
}

async function record(number: number, ...facts: readonly Fact[][]): Promise<void> {
  const journal = await begin(number, ...facts, [finished()]);
  await journal.close();
}

/** So many calls that an index is worth its while. */
function manyCalls(prefix: string): Fact[] {
  return Array.from({ length: 500 }, (_, number) => call(`main/for#0[${number}]/ask#0`, `${prefix} ${number} ${'x'.repeat(100)}`)).flat();
}

/** The last event of a run, after so many others. */
const endedAt = (seq: number): Recorded => ({ seq: seqOf(seq), ts: '', hash: '', position: { offset: seq * 100, bytes: 99 } });

const withoutScratch = ({ memo, complete }: PriorRuns): unknown => {
  const { entries: questions, refused, called, cleanedBy, current, scope, pending, inFlight: open } = memo;
  return { questions, refused, called, cleanedBy, current, scope, pending, open, complete };
};

describe.each(STORES)('the prior runs of a workflow in a %s store', (_name, openStore) => {
  beforeEach(() => open(openStore));

  it('are none before the first run', async () => {
    expect(await load()).toMatchObject({ runs: [], covered: [] });
  });

  it('are those up to a run, whose results a later --fresh leaves usable, where they are asked for so; no index is written then', async () => {
    await record(1, manyCalls('many'));
    await record(2, [{ type: 'memo.reset', reason: 'fresh' }]);
    const upTo = runRef(1).run;
    const prior = await loadWorkflow(store, JOB, { onDefect, upTo });
    expect([...usable(prior.memo)]).toHaveLength(500);
    expect([...prior.sizes.keys()]).toEqual([upTo]);
    expect(await store.readDerived(JOB, 'index')).toBeUndefined();
    expect([...usable((await load()).memo)]).toHaveLength(0); // writes an index of both
    expect([...usable((await loadWorkflow(store, JOB, { onDefect, upTo })).memo)]).toHaveLength(500);
  });

  it('are read with the index where it covers no later run', async () => {
    await record(1, manyCalls('many'));
    await load();
    await record(2, call('main/ask#0', 'ebb'));
    scans = [];
    const prior = await loadWorkflow(store, JOB, { onDefect, upTo: runRef(2).run });
    expect([...usable(prior.memo)]).toHaveLength(501);
    expect(scans).toEqual([{ run: runRef(2).run, from: 0 }]);
  });

  it('have results that can be read', async () => {
    await record(1, call('main/ask#0', 'ebb'));
    const entry = usableEntry((await load()).memo, callKeyOf('ebb'));
    expect(await readResult(store, callKeyOf('ebb'), entry!.result)).toMatchObject({
      result: { json: 'A:"ebb"', form: undefined, notes: [] },
      event: { seq: 3 },
    });
  });

  it('don’t take another event for a result', async () => {
    await record(1, call('main/ask#0', 'ebb'), call('main/ask#1', 'flow'));
    const { result: answer } = usableEntry((await load()).memo, callKeyOf('ebb'))!;
    expect(await readResult(store, callKeyOf('flow'), answer)).toBeUndefined();
    expect(await readResult(store, callKeyOf('ebb'), { ...answer, position: { ...answer.position, offset: 0 } })).toBeUndefined();
    expect(await readResult(store, callKeyOf('ebb'), { ...answer, position: { ...answer.position, offset: 1e9 } })).toBeUndefined();
  });

  it('are read once, and then only what is new', async () => {
    await record(1, manyCalls('first'));
    await record(2, manyCalls('second'));
    const whole = withoutScratch(await load());
    expect(scans.map(({ run }) => run)).toEqual([runRef(1).run, runRef(2).run]);

    scans = [];
    expect(withoutScratch(await load())).toEqual(whole);
    expect(scans).toEqual([]);

    await record(3, call('main/ask#0', 'third'));
    await load();
    expect(scans.map(({ run }) => run)).toEqual([runRef(3).run]);
  });

  it('are read on from the middle of a run that was still being written', async () => {
    const journal = await begin(1, manyCalls('first'), call('main/ask#0', 'flow', { outcome: 'killed' }));
    await load();
    const [, , completed] = call('main/ask#0', 'flow');
    await journal.append(completed!);
    scans = [];
    const caughtUp = await load();
    expect(scans).toEqual([{ run: runRef(1).run, from: expect.toSatisfy((offset: number) => offset > 100_000) }]);
    expect(usableEntry(caughtUp.memo, callKeyOf('flow'))).toMatchObject({ fn: 'ask', preview: 'flow' });
    await store.writeDerived(JOB, 'index', '');
    expect(withoutScratch(await load())).toEqual(withoutScratch(caughtUp));
  });

  it('are folded in their order, also when an earlier one outlives a later one', async () => {
    const early = await begin(1, manyCalls('first'));
    await record(2, [{ type: 'memo.reset', reason: 'fresh' }], call('main/ask#0', 'ebb'));
    await load();
    for (const fact of call('main/ask#9', 'late')) await early.append(fact);
    await early.close();
    const caughtUp = await load();
    expect([...usable(caughtUp.memo)].map(([, { preview }]) => preview)).toEqual(['ebb']);
  });

  it.each<[string, (content: Buffer) => Buffer | string]>([
    ['empty', () => ''],
    ['cut', (content) => content.subarray(0, content.length / 2)],
    ['of another version', (content) => content.toString().replace(/^mlld index \d+/, 'mlld index 999')],
    ['garbage', () => 'garbage\n{}'],
    ['changed by one bit', (content) => Buffer.from(content.map((byte, at) => (at === 5000 ? byte ^ 1 : byte)))],
  ])('is read again when the index is %s', async (_how, damage) => {
    await record(1, manyCalls('first'));
    const whole = withoutScratch(await load());
    await store.writeDerived(JOB, 'index', damage(Buffer.from((await store.readDerived(JOB, 'index'))!)));
    scans = [];
    expect(withoutScratch(await load())).toEqual(whole);
    expect(scans).toHaveLength(1);
  });

  it('are loaded also when the index can’t be written', async () => {
    await record(1, manyCalls('first'));
    store.replaceDerived = () => Promise.reject(new Error('read-only'));
    expect((await load()).memo.entries.size).toBe(500);
  });

  it('don’t include a run that was deleted', async () => {
    await record(1, manyCalls('first'));
    await record(2, call('main/ask#0', 'ebb'));
    await load();
    const { runs } = store;
    store.runs = async (workflow) => (await runs.call(store, workflow)).slice(1);
    expect([...usable((await load()).memo)].map(([, { preview }]) => preview)).toEqual(['ebb']);
  });

  it('don’t include the runs before a clean', async () => {
    await record(1, call('main/ask#0', 'ebb'));
    await record(2, [{ type: 'memo.reset', reason: 'clean' }]);
    expect(await load()).toMatchObject({ runs: [] });
    await record(3, call('main/ask#0', 'flow'));
    expect((await load()).runs.map(({ ref }) => ref)).toEqual([runRef(3)]);
  });

  it('can be loaded as they were at an earlier event', async () => {
    await record(1, call('main/ask#0', 'ebb'), call('main/ask#1', 'flow'));
    await record(2, call('main/ask#0', 'slack'));
    const texts = async (run: number, seq?: number): Promise<unknown> => {
      const until = { run: runRef(run).run, ...(seq !== undefined && { seq: seq as never }) };
      return [...usable((await loadWorkflow(store, JOB, { onDefect, until })).memo)].map(([, { preview }]) => preview);
    };
    expect(await texts(1)).toEqual(['ebb', 'flow']);
    expect(await texts(1, 3)).toEqual(['ebb']);
    expect(await texts(1, 2)).toEqual([]);
    expect(await texts(2)).toEqual(['ebb', 'flow', 'slack']);
  });

  it('UNTIL-2: has the results of its workers in the past of a run, at an event as far as the run had used them', async () => {
    const by = (number: number, text: string, seq: number): Fact[] =>
      call(`main/ask#${number}`, text, { outcome: 'reused' }).map((fact) =>
        fact.type === 'call.reused' ? { ...fact, from: { run: runRef(2).run, seq: seqOf(seq) } } : fact,
      );
    const ofWorker = (number: number, forRun: number): Fact =>
      ({ ...started(runRef(number)), worker: { for: runRef(forRun).run, name: 'hut', lanes: {} } }) as Fact;
    const write = async (number: number, facts: readonly Fact[]): Promise<void> => {
      const journal = await store.create(runRef(number));
      for (const fact of facts) await journal.append(fact);
      await journal.close();
    };
    const executed = [ofWorker(2, 1), ...['ebb', 'flow', 'tide'].flatMap((text, n) => call(`main/ask#${n}`, text))];
    const ends = executed.flatMap(({ type }, seq) => (type === 'call.completed' ? [seq] : []));
    const offering = [started(runRef(1)), ...by(0, 'ebb', ends[0]!), ...by(1, 'flow', ends[1]!), finished('failed')];
    await write(1, offering);
    await write(2, executed);
    await record(3, call('main/ask#0', 'neap'));
    await write(4, [ofWorker(4, 3), ...call('main/ask#1', 'surge')]);
    const past = async (seq?: number): Promise<readonly unknown[]> => {
      const until = { run: runRef(1).run, ...(seq !== undefined && { seq: seqOf(seq) }) };
      return [...usable((await loadWorkflow(store, JOB, { onDefect, until })).memo)].map(([, { preview }]) => preview);
    };
    expect(await past()).toEqual(['ebb', 'flow', 'tide']); // the last was paid for when the run had failed
    const first = offering.findIndex(({ type }) => type === 'call.reused');
    expect(await past(first)).toEqual(['ebb']);
    expect(await past(0)).toEqual([]);
  });

  it('UNTIL-1: has the results that a run had used of one that was made beside it, and no others of that one', async () => {
    const beside = [call('main/ask#0', 'flow'), call('main/ask#1', 'tide')];
    const seq = beside[0]!.findIndex(({ type }) => type === 'call.completed') + 1;
    const from = { run: runRef(2).run, seq: seqOf(seq) };
    const used = call('main/ask#1', 'flow', { outcome: 'reused' }).map((fact) => (fact.type === 'call.reused' ? { ...fact, from } : fact));
    await record(1, call('main/ask#0', 'ebb'), used);
    await record(2, ...beside);
    const { memo } = await loadWorkflow(store, JOB, { onDefect, until: { run: runRef(1).run } });
    expect([...usable(memo)].map(([, { preview, result }]) => [preview, result.ref.run])).toEqual([
      ['ebb', runRef(1).run],
      ['flow', runRef(2).run],
    ]);
  });

  it('are kept current by the run that follows, and saved for the next', async () => {
    await record(1, manyCalls('first'));
    const past = await load();
    const ref = runRef(2);
    const journal = await store.create(ref);
    const see = followIndex(past, ref);
    let last: Recorded | undefined;
    for (const fact of [
      started(ref),
      ...manyCalls('second'),
      ...call('main/ask#0', 'ebb'),
      { type: 'memo.invalidated', selector: 'x', keys: [] } as const,
      finished(),
    ]) {
      const recorded = journal.post(fact);
      see(eventOf(fact as Fact, recorded.seq, '2026-01-01T00:00:00.000Z'), recorded.position);
      last = recorded;
    }
    await journal.close();
    const { result: answer } = usableEntry(past.memo, callKeyOf('ebb'))!;
    expect(await readResult(store, callKeyOf('ebb'), answer)).toMatchObject({ result: { json: 'A:"ebb"' } });

    await saveIndex(past, ref.run, last!);
    scans = [];
    const next = await load();
    expect(scans).toEqual([]);
    expect(withoutScratch(next)).toEqual(withoutScratch(past));
    expect(next.runs).toHaveLength(2);
  });

  it('are not saved for a few new events, however many there are', async () => {
    await record(1, manyCalls('first'));
    await load();
    const saved = await store.readDerived(JOB, 'index');
    await record(2, manyCalls('second').slice(0, 400));
    const past = await load();
    await saveIndex(past, runRef(3).run, endedAt(10));
    expect(await store.readDerived(JOB, 'index')).toEqual(saved);
    await saveIndex(past, runRef(3).run, endedAt(1000));
    expect(await store.readDerived(JOB, 'index')).not.toEqual(saved);
  });

  it('are saved when many runs are new, however little each of them recorded', async () => {
    for (let number = 1; number <= 14; number++) await record(number, call('main/ask#0', `ebb ${number}`));
    await load();
    expect(await store.readDerived(JOB, 'index')).toBeUndefined();
    await record(15, call('main/ask#0', 'flow'));
    const past = await load();
    scans = [];
    expect(withoutScratch(await load())).toEqual(withoutScratch(past));
    expect(scans).toEqual([]);
  });

  it('are saved after --fresh as a reader would find them', async () => {
    await record(1, [{ type: 'op.started', op: 'main/old#0' as never, kind: 'exe', name: 'old' }], call('main/ask#0', 'ebb'));
    await record(2, [{ type: 'memo.reset', reason: 'clean' }]);
    await record(3, call('main/judge#0', 'x', { fn: 'judge' }), [{ type: 'checkpoint.closed', name: 'a', complete: true }]);
    const past = withoutPriorRuns(await load());
    const ref = runRef(4);
    const journal = await store.create(ref);
    const see = followIndex(past, ref);
    for (const fact of [started(ref), { type: 'memo.reset', reason: 'fresh' } as const, ...manyCalls('fourth'), finished()]) {
      const recorded = journal.post(fact);
      see(eventOf(fact as Fact, recorded.seq, '2026-01-01T00:00:00.000Z'), recorded.position);
      if (fact.type === 'run.finished') await saveIndex(past, ref.run, recorded);
    }
    await journal.close();
    scans = [];
    const saved = await load();
    expect(scans).toEqual([]);
    await store.writeDerived(JOB, 'index', '');
    const read = await load();
    expect(saved.runs).toEqual(read.runs);
    expect([...saved.memo.called.keys()]).toEqual([...read.memo.called.keys()]);
    expect([saved.memo.cleanedBy, saved.complete]).toEqual([read.memo.cleanedBy, read.complete]);
    expect([...saved.memo.entries.keys()]).toEqual([...read.memo.entries.keys()]);
  });

  it('lose only what a concurrent run had recorded when it was invalidated', async () => {
    const ref = runRef(1);
    const older = await begin(1, call('main/ask#0', 'ebb'));
    const during = await concurrentRuns(store, await load(), runRef(9));
    expect(during).toEqual([{ run: ref.run, seq: 4 }]);
    await record(2, [{ type: 'memo.reset', reason: 'clean', during }]);
    for (const fact of call('main/ask#1', 'flow')) await older.append(fact);
    await older.close();
    const past = await load();
    expect([...usable(past.memo)].map(([key]) => key)).toEqual([callKeyOf('flow')]);
    expect(past.runs.map((file) => file.ref.run)).toEqual([ref.run]);
    await record(3, [{ type: 'memo.invalidated', selector: '@ask', keys: [callKeyOf('flow')], during: [{ run: ref.run, seq: seqOf(5) }] }]);
    expect([...usable((await load()).memo)]).toHaveLength(1); // it came after event 5
    await record(4, [{ type: 'memo.invalidated', selector: '@ask', keys: [callKeyOf('flow')] }]);
    expect([...usable((await load()).memo)]).toEqual([]);
  });

  it('count a run that was created since loading as one that had recorded nothing', async () => {
    const past = await load();
    await record(1, call('main/ask#0', 'ebb'));
    const during = await concurrentRuns(store, past, runRef(2));
    expect(during).toEqual([{ run: runRef(1).run, seq: -1 }]);
    await record(2, [{ type: 'memo.reset', reason: 'fresh', during }]);
    expect([...usable((await load()).memo)].map(([key]) => key)).toEqual([callKeyOf('ebb')]);
  });

  it('leave the index to a reader while another run is being written', async () => {
    await begin(1, call('main/ask#0', 'ebb'));
    const past = await load();
    await saveIndex(past, runRef(2).run, endedAt(1));
    expect(await store.readDerived(JOB, 'index')).toBeUndefined();
  });

  it('resolve a resume target by reading one run', async () => {
    await record(1, call('main/ask#0', 'ebb', { site: 'a' }), call('main/ask#1', 'flow', { site: 'b' }));
    await record(2, [{ type: 'checkpoint.reached', name: 'here' }]);
    const past = await load();
    const options = { prior: past, forks: [], declarations: { declares: () => true, knownFunctions: [] }, onDefect };
    scans = [];
    expect(await resolveTarget(store, parseSelector('@ask("fl")'), options)).toEqual({ keys: [callKeyOf('flow')], forkedKeys: [] });
    expect(scans.map(({ run }) => run)).toEqual([runRef(1).run]);
    expect(await resolveTarget(store, parseSelector('here'), options)).toMatchObject({ keys: [callKeyOf('ebb'), callKeyOf('flow')] });
    expect(await resolveTarget(store, parseSelector(undefined), options)).toEqual({ keys: [], forkedKeys: [] });

    const fresh = { ...options, prior: withoutPriorRuns(past) };
    expect(await resolveTarget(store, parseSelector('@ask'), fresh)).toMatchObject({
      keys: [],
      notice: 'nothing to invalidate for @ask: --fresh forgets all recorded runs',
    });
    await expect(resolveTarget(store, parseSelector('here'), fresh)).rejects.toMatchObject({
      code: 'RESUME_CHECKPOINT',
      message: 'unknown checkpoint "here": --fresh forgets all recorded runs',
      hint: expect.stringContaining('leave --fresh out'),
    });
  });

  it('have a summary of a run that is being written', async () => {
    await begin(1, call('main/ask#0', 'ebb'), call('main/ask#1', 'flow', { outcome: 'killed' }));
    const [file] = await store.runs(JOB);
    expect(await summariseRun(store, file!, { nowMs: Date.now() + 1000 })).toMatchObject({
      status: 'running',
      executed: 1,
      inFlight: [{ op: 'main/ask#1', fn: 'ask', preview: 'flow', durationMs: expect.toSatisfy((ms: number) => ms >= 1000) }],
    });
  });
});

describe('an index snapshot', () => {
  beforeEach(() => open(openMemoryStore));

  it('holds the whole state, whatever is in it', async () => {
    await record(
      1,
      call('main/ask#0', 'ebb', { declared: 'job.mld:1:1' }),
      [{ type: 'op.started', op: 'main/survey#0' as never, kind: 'exe', name: 'survey' }],
      call('main/survey#0/ask#0', 'flow'),
      call('main/survey#0/ask#1', 'failed', { outcome: 'failed' }),
      [{ type: 'checkpoint.reached', name: 'a' }],
      [{ type: 'checkpoint.closed', name: 'a', complete: false }],
      [{ type: 'checkpoint.reached', name: 'b' }],
      [{ type: 'memo.invalidated', selector: '@x', keys: [callKeyOf('lent')], borrowed: true }],
      call('main/survey#0/ask#2', 'in flight', { outcome: 'killed' }),
    );
    const entries: Entry[] = [];
    await store.scan(runRef(1), (event, position) => entries.push({ event, place: { ref: runRef(1), position } }));
    const state = fold(index, entries.slice(0, -1));
    const covered = [{ run: runRef(1).run, bytes: 7 }];
    const back = decodeSnapshot(Buffer.from(encodeIndex(captureIndex({ covered, index: state }))))!;
    expect(back.covered).toEqual(covered);
    expect(withoutScratch({ ...back.index } as PriorRuns)).toEqual(withoutScratch({ ...state } as PriorRuns));
    expect(back.index.memo.pending.size).toBe(1);
    expect(back.index.memo.inFlight.size).toBe(1);
  });
});

it.each([[[-1, 5000]], [[NaN, 5000, 6000]], [[5000, 1000]]])('keeps the times %j of results in an index', (times) => {
  const history = times.flatMap((ms, i) =>
    entries(runRef(1), call(`main/ask#${i}`, `question ${i}`)).map(({ event, place }): Entry => {
      const ts = Number.isNaN(ms) ? 'some day' : new Date(ms).toISOString();
      return { event: { ...event, ts }, place };
    }),
  );
  const { index: back } = decodeSnapshot(Buffer.from(encodeIndex(captureIndex({ covered: [], index: fold(index, history) }))))!;
  expect([...back.memo.entries.values()].map(({ result: answer }) => answer?.endedMs)).toEqual(times);
});

describe('a damaged store', () => {
  const folder = (): { readonly root: string; readonly file: (run: number) => string } => {
    const root = temporaryFolder();
    open(() => openFileStore(root));
    return {
      root,
      file: (number) =>
        join(
          root,
          readdirSync(root, { recursive: true })
            .map(String)
            .find((path) => path.endsWith(`${runRef(number).run}.ndjson`))!,
        ),
    };
  };

  it('is read again where the index does not fit it, and keeps what is intact', async () => {
    const { file } = folder();
    await record(1, manyCalls('first'));
    await record(2, call('main/ask#0', 'ebb'), manyCalls('second'));
    expect((await load()).memo.entries.size).toBe(1001);
    truncateSync(file(2), 1500);
    const [, ...rest] = [...usable((await load()).memo)].slice(499);
    expect(rest.map(([, { preview }]) => preview)).toEqual(['ebb']);
    truncateSync(file(1), 0);
    const emptied = await load();
    expect([...usable(emptied.memo)].map(([, { preview }]) => preview)).toEqual(['ebb']);
    expect(emptied.runs.map(({ ref }) => ref)).toEqual([runRef(2)]);
  });

  it('has no result where the event was changed after the index was saved', async () => {
    const { file } = folder();
    await record(1, manyCalls('first'), call('main/ask#0', 'ebb'));
    await load();
    const text = readFileSync(file(1), 'utf8');
    writeFileSync(file(1), text.replace('A:\\"ebb\\"', 'A:\\"ebc\\"'));
    const { memo } = await load();
    expect(await readResult(store, callKeyOf('ebb'), usableEntry(memo, callKeyOf('ebb'))!.result)).toBeUndefined();
    const [key, { result: answer }] = [...usable(memo)][0]!;
    expect(await readResult(store, key, answer)).toBeDefined();
  });
});
