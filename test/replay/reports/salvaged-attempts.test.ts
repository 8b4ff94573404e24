/** A run was sealed while a call was in flight, and its process recorded the end in a salvage run: one attempt was made. */
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { seqOf, type RunRef } from '../../../journal/ids.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { JournalStore } from '../../../journal/store.js';
import { auditRun } from '../../../replay/reports/audit/audit-run.js';
import { statsOf } from '../../../replay/reports/stats/stats.js';
import { trendOf } from '../../../replay/reports/stats/trend.js';
import { crashedRuns } from '../../../replay/reports/summary/crashed-runs.js';
import { diffRuns } from '../../../src/api/reports/diff.js';
import { exportChromeTrace } from '../../../src/api/reports/export.js';
import { openPage } from '../../../src/api/reports/page.js';
import { timelineOf } from '../../../src/api/reports/timeline.js';
import { createTeamCosts } from '../../../src/api/team/team-costs.js';
import { createTeamRuns } from '../../../src/api/team/team-runs.js';
import { call, finished, JOB, runRef, started } from '../../support/written-runs.js';

const SEALED = runRef(1);
const ONE_CALL = { executed: 1, costUsd: 0.25, unpriced: 0 };

const costing = (facts: readonly Fact[]): Fact[] =>
  facts.map((fact): Fact => (fact.type === 'call.completed' ? { ...fact, usage: { costUsd: 0.25 } } : fact));

/** As `SalvageRun` writes it. `tried`: the number of the attempt. */
function salvaging(of: RunRef, { tried = 1, isKilled = false } = {}): Fact[] {
  const ends = costing(call('main/ask#0', 'ebb')).filter(({ type }) => type === 'call.started' || type === 'call.completed');
  const begun = { run: of.run, seq: seqOf(2) };
  return [
    { ...started(of), salvages: of.run } as Fact,
    ...ends.map((fact) => (fact.type === 'call.started' ? { ...fact, begun, ...(tried > 1 && { try: tried }) } : fact)),
    ...(isKilled ? [] : [{ ...finished('interrupted'), totals: { executed: 1, reused: 0, failed: 0 }, salvages: of.run } as Fact]),
  ];
}

async function append(store: JournalStore, number: number, facts: readonly Fact[]): Promise<void> {
  const journal = await store.create(runRef(number));
  for (const fact of facts) await journal.append(fact);
  await journal.close();
}

async function storeOf(...runs: readonly (readonly Fact[])[]): Promise<JournalStore> {
  const store = openMemoryStore();
  for (const [index, facts] of runs.entries()) await append(store, index + 1, facts);
  return store;
}

const sealed = [started(SEALED), ...call('main/ask#0', 'ebb', { outcome: 'killed' })];
const statsFor = async (store: JournalStore) => statsOf(store, await store.runs(JOB), () => expect.unreachable());

describe('an attempt whose end is in a salvage run', () => {
  it.each([
    ['whole', false],
    ['cut off by a kill', true],
  ])('counts once, with the price that a salvage run which is %s has', async (_, isKilled) => {
    const stats = await statsFor(await storeOf(sealed, salvaging(SEALED, { isKilled })));
    expect(stats.total).toMatchObject({ ...ONE_CALL, runs: 1, attempts: 1, retries: 0 });
    expect(stats.functions).toMatchObject([{ fn: 'ask', ...ONE_CALL, attempts: 1 }]);
    expect(stats.days).toMatchObject([{ ...ONE_CALL, attempts: 1 }]);
    expect(stats.statuses).toEqual({ crashed: 1 });
  });

  it('is a retry once, and leaves the attempt before it as it is', async () => {
    const [begin, first] = call('main/ask#0', 'ebb', { outcome: 'killed' });
    if (first?.type !== 'call.started' || begin === undefined) throw new Error('no call');
    const { key, op } = first;
    const failed: Fact = { type: 'call.failed', key, op, message: 'no', elapsedMs: 1, retryInMs: 1 };
    const stats = await statsFor(
      await storeOf([started(SEALED), begin, first, failed, { ...first, try: 2 }], salvaging(SEALED, { tried: 2 })),
    );
    expect(stats.total).toMatchObject({ attempts: 2, retries: 1, executed: 1, costUsd: 0.25, unpriced: 1 });
  });

  it('counts once with its price, also where its result had come back before the run was sealed', async () => {
    const ends = costing(call('main/ask#0', 'ebb')).filter(({ type }) => type === 'call.completed');
    const received = ends.map((fact) => ({ ...fact, type: 'result.received' }) as Fact);
    const waiting = [...sealed, ...received];
    const store = await storeOf(waiting, salvaging(SEALED));
    expect((await statsFor(store)).total).toMatchObject({ ...ONE_CALL, attempts: 1 });
    expect((await crashedRuns(store, JOB, await store.runs(JOB))).get(SEALED.run)).toMatchObject({
      attempts: 0,
      costUsd: null,
      unpriced: 0,
    });
    expect((await statsFor(await storeOf(waiting))).total).toMatchObject({ executed: 0, attempts: 1, costUsd: 0.25, unpriced: 0 });
  });

  it('leaves others of the sealed run in flight without a price', async () => {
    const stats = await statsFor(await storeOf([...sealed, ...call('main/ask#1', 'flow', { outcome: 'killed' })], salvaging(SEALED)));
    expect(stats.total).toMatchObject({ attempts: 2, executed: 1, costUsd: 0.25, unpriced: 1 });
  });

  it('belongs to the sealed run where runs are compared, and to the one that a sealed worker had served', async () => {
    const ofWorker = { ...started(runRef(2)), worker: { for: SEALED.run, name: 'hut', lanes: {} } } as Fact;
    const store = await storeOf(
      [started(SEALED), finished()],
      [ofWorker, ...call('main/ask#0', 'ebb', { outcome: 'killed' })],
      salvaging(runRef(2)),
      [started(runRef(4)), ...call('main/ask#0', 'ebb', { outcome: 'killed' })],
      salvaging(runRef(4)),
    );
    const { runs, total } = await trendOf(store, JOB, await store.runs(JOB), () => expect.unreachable());
    expect(runs).toMatchObject([
      { run: SEALED.run, ...ONE_CALL, functions: [ONE_CALL] },
      { run: runRef(4).run, ...ONE_CALL, functions: [ONE_CALL] },
    ]);
    expect(total).toMatchObject({ runs: 2, executed: 2, costUsd: 0.5, unpriced: 0, attempts: 2 });
  });
});

describe('a list of runs, and an audit of the sealed one', () => {
  const listed = async (store: JournalStore) => (await crashedRuns(store, JOB, await store.runs(JOB))).get(SEALED.run);

  it('leave the attempt to the salvage run, also where that comes later, and have others without a price', async () => {
    const store = await storeOf([...sealed, ...call('main/ask#1', 'flow', { outcome: 'killed' })]);
    expect(await listed(store)).toMatchObject({ attempts: 2, unpriced: 2 });
    await append(store, 2, salvaging(SEALED));
    expect(await listed(store)).toMatchObject({ attempts: 1, retries: 0, unpriced: 1 });
    const [file] = await store.runs(JOB);
    if (file === undefined) throw new Error('the sealed run is there');
    expect((await auditRun(store, file, {}, () => undefined)).totals).toMatchObject({
      attempts: 1,
      retries: 0,
      unpriced: 1,
      unfinished: 2,
    });
  });
});

describe('reports of the sealed run alone', () => {
  it('leave the attempt to the salvage run: diff, timeline, page and trace', async () => {
    const store = await storeOf([...sealed, ...call('main/ask#1', 'flow', { outcome: 'killed' })], salvaging(SEALED));
    const counts = { executed: 0, unpriced: 1 };
    expect(await diffRuns(store, SEALED, SEALED)).toMatchObject({ left: counts, right: counts });
    expect(await timelineOf(store, SEALED)).toMatchObject({ total: { ...counts, attempts: 1 }, functions: [{ ...counts, attempts: 1 }] });
    expect((await openPage(store, SEALED)).data.report.total).toMatchObject({ ...counts, attempts: 1 });
    expect(await exportChromeTrace(store, SEALED)).toMatchObject({ otherData: { ...counts, attempts: 1 } });
  });
});

describe('the costs of a team', () => {
  it('have the price that a salvage run tells instead of an attempt without one, also where that run comes later', async () => {
    const store = await storeOf(sealed);
    const project = { root: '/project', config: {} } as Parameters<typeof createTeamRuns>[0]['project'];
    const team = createTeamRuns({ store, project, nowMs: () => Date.UTC(2026, 0, 2) });
    const stopping = new AbortController();
    const reader = createTeamCosts({
      store,
      monotonicMs: () => 0,
      onError: (error) => expect.unreachable(String(error)),
      stopping: stopping.signal,
    });
    const costs = async () => {
      const list = await team.list();
      await reader.costs(list, list.runs);
      await reader.idle();
      return { list, costs: await reader.costs(list, list.runs) };
    };
    const before = { executed: 0, costUsd: null, unpriced: 1 };
    expect((await costs()).costs).toMatchObject({ total: before, functions: [{ fn: 'ask', ...before }] });
    await append(store, 2, salvaging(SEALED));
    const { list, costs: after } = await costs();
    expect(list.runs).toMatchObject([
      { status: 'salvaged', ...ONE_CALL },
      { run: SEALED.run, status: 'crashed', executed: 0, costUsd: null, unpriced: 0 },
    ]);
    const added = { ...ONE_CALL, runs: 1 };
    expect(after).toMatchObject({ total: added, days: [added], people: [added], workflows: [added], functions: [ONE_CALL] });
    stopping.abort();
  });
});
