/** A run and those of its workers are kept, removed, bundled, redacted and verified together. team-store.md 7.1. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fact, Json } from '../../../journal/event.js';
import { seqOf, type RunRef } from '../../../journal/ids.js';
import { openFileStore } from '../../../journal/storage/file-store.js';
import type { JournalStore } from '../../../journal/store.js';
import { runsAsOne } from '../../../replay/upkeep/runs-as-one.js';
import { readEvents } from '../../../src/api/reports/events.js';
import { verifyRun } from '../../../src/api/reports/verify.js';
import { bundleRun, unbundleRuns } from '../../../src/session/upkeep/bundle-run.js';
import { collectGarbage } from '../../../src/session/upkeep/collect-garbage.js';
import { redactRun } from '../../../src/session/upkeep/redact-run.js';
import { projectFolder } from '../../support/cli.js';
import { call, callKeyOf, finished, JOB, runRef, started } from '../../support/written-runs.js';

const AT = '2026-11-21T08:00:00.000Z';
const NO_END: readonly Fact[] = [];

let root: string;
let store: JournalStore;
beforeEach(async () => {
  root = await projectFolder();
  store = openFileStore(root);
});

async function record(ref: RunRef, facts: readonly Fact[], end: readonly Fact[] = [finished()]): Promise<RunRef> {
  const journal = await store.create(ref);
  for (const fact of [...facts, ...end]) await journal.append(fact);
  await journal.close();
  return ref;
}

/** A worker's run that did not end, as of a killed worker, unless `end` says otherwise. */
function worker(number: number, serves: number, facts: readonly Fact[], end: readonly Fact[] = NO_END): Promise<RunRef> {
  const first = { ...started(runRef(number)), worker: { for: runRef(serves).run, name: 'hut', lanes: { '': 2 } } } as Fact;
  return record(runRef(number), [first, ...facts], end);
}

/** Makes the events of a call that a worker executed: the run has neither arguments nor result. */
function reusedFrom(number: number, op: string, argument: Json): Fact[] {
  const [begin, reused, end] = call(op, argument, { outcome: 'reused' }) as [Fact, Fact, Fact];
  return [begin, { ...reused, worker: 'hut', from: { run: runRef(number).run, seq: seqOf(3) } } as Fact, end];
}

async function textOf(ref: RunRef): Promise<string> {
  const lines = [];
  for await (const event of readEvents(store, ref)) lines.push(JSON.stringify(event));
  return lines.join('\n');
}

const collect = (keep: number, needed: 'stays' | 'goes') =>
  collectGarbage(store, root, { keep, sinceMs: undefined, workflow: undefined, needed, dryRun: false });

describe('a run and those of its workers', () => {
  it('are found from each of them, also where a worker was killed, and with the salvage run of a worker', async () => {
    await record(runRef(1), [started(runRef(1))]);
    await worker(2, 1, [], [{ ...finished(), worker: { for: runRef(1).run, name: 'hut' } } as Fact]);
    await worker(3, 1, []);
    await record(runRef(4), [{ ...started(runRef(4)), salvages: runRef(3).run } as Fact], NO_END);
    await record(runRef(5), [started(runRef(5))]);
    const found = async (number: number): Promise<readonly RunRef[]> => (await runsAsOne(store, runRef(number))).map(({ ref }) => ref);
    expect(await found(1)).toEqual([1, 2, 3, 4].map((number) => runRef(number)));
    expect(await found(4)).toEqual([4, 1, 2, 3].map((number) => runRef(number)));
    expect(await found(5)).toEqual([runRef(5)]);
  });

  it('stay together when the result of a worker is needed', async () => {
    await record(runRef(1), [started(runRef(1)), ...reusedFrom(2, 'main/ask#0', 'ebb')]);
    await worker(2, 1, call('main/ask#7', 'ebb'));
    await record(runRef(3), [started(runRef(3))]);
    const { removed, kept } = await collect(0, 'stays');
    expect(removed).toEqual([]);
    expect(kept.map(({ ref, reason }) => [ref.run, reason])).toEqual([
      [runRef(1).run, expect.stringMatching(/served|resume/)],
      [runRef(2).run, 'results'],
      [runRef(3).run, 'latest'],
    ]);
  });

  it('count as one run for --keep, and the run of a worker is never the latest', async () => {
    await record(runRef(1), [started(runRef(1))]);
    await record(runRef(2), [started(runRef(2))]);
    for (const number of [3, 4]) await worker(number, 2, []);
    expect((await collect(1, 'goes')).removed).toEqual([runRef(1)]);
    expect((await collect(0, 'goes')).removed).toEqual([]); // the latest, with its workers
    await record(runRef(5), [started(runRef(5))]);
    expect((await collect(0, 'goes')).removed).toEqual([2, 3, 4].map((number) => runRef(number)));
  });

  it('go in the next collection where one was killed behind the run itself', async () => {
    await worker(2, 1, call('main/ask#7', 'ebb'));
    await record(runRef(3), [started(runRef(3)), { type: 'memo.reset', reason: 'fresh' }, ...call('main/ask#0', 'ebb')]);
    expect((await collect(0, 'stays')).removed).toEqual([runRef(2)]);
  });

  it('are bundled together, also a call that failed at a worker', async () => {
    await record(runRef(1), [started(runRef(1)), ...reusedFrom(2, 'main/ask#0', 'ebb')]);
    await worker(2, 1, call('main/ask#7', 'ebb'));
    await worker(3, 1, call('main/ask#0', 'flow', { outcome: 'failed' }));
    const [file] = await store.runs(JOB);
    const { packed, runs } = await bundleRun(store, root, file!, { match: undefined, at: AT });
    expect(runs).toEqual([1, 2, 3].map((number) => runRef(number)));
    const other = await projectFolder();
    await unbundleRuns(packed, { store: openFileStore(other), root: other, scratch: await projectFolder() });
    expect(await runsAsOne(openFileStore(other), runRef(1))).toHaveLength(3);
  });

  it('are not bundled while a worker is at work for the run', async () => {
    await record(runRef(1), [started(runRef(1))]);
    const journal = await store.create(runRef(2));
    await journal.append({ ...started(runRef(2)), worker: { for: runRef(1).run, name: 'hut', lanes: {} } } as Fact);
    const [file] = await store.runs(JOB);
    await expect(bundleRun(store, root, file!, { match: undefined, at: AT })).rejects.toMatchObject({
      code: 'RUN_RUNNING',
      message: expect.stringContaining(runRef(2).run),
    });
    await journal.close();
  });

  it('are redacted together by a match', async () => {
    await record(runRef(1), [started(runRef(1)), ...reusedFrom(2, 'main/ask#0', 'token-4711')]);
    await worker(2, 1, call('main/ask#7', 'token-4711'));
    await record(runRef(3), [started(runRef(3)), ...call('main/ask#0', 'token-4711')]);
    const report = await redactRun(store, root, runRef(1), { op: undefined, match: /token-\d+/, reason: 'r', at: AT, dryRun: false });
    expect(report).toMatchObject({ run: runRef(1).run, serving: [runRef(2).run], results: 1 });
    expect(await textOf(runRef(2))).not.toContain('token-4711');
    expect(await textOf(runRef(3))).toContain('token-4711');
  });

  it('are redacted together by an operation: the same calls, wherever a worker made them', async () => {
    const facts = [...reusedFrom(2, 'main/ask#0', 'tide'), ...reusedFrom(2, 'main/ask#1', 'flow')];
    await record(runRef(1), [started(runRef(1)), ...facts]);
    await worker(2, 1, [...call('main/ask#1', 'tide'), ...call('main/ask#2', 'flow')]);
    await redactRun(store, root, runRef(1), { op: 'main/ask#0', match: undefined, reason: 'r', at: AT, dryRun: false });
    const text = await textOf(runRef(2));
    expect(text).not.toContain('tide');
    expect(text).toContain('A:\\"flow\\"');
    expect(text).toContain(callKeyOf('tide'));
  });

  it('are verified together', async () => {
    const { blob } = await openFileStore(await projectFolder()).putBlob('elsewhere');
    await record(runRef(1), [started(runRef(1))]);
    await worker(2, 1, [{ type: 'source.loaded', path: 'job.mld', blob, role: 'script' }]);
    expect(await verifyRun(store, runRef(1))).toMatchObject({ ok: true, serving: [{ ok: false }] });
  });
});
