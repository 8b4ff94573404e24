/** Lists of all runs of a project: filters, pages, costs by day, person and function, and how often the store is asked. */
import { afterEach, describe, expect, it } from 'vitest';
import { runIdAt, workflowOf } from '../../journal/ids.js';
import { openMemoryStore } from '../../journal/storage/memory-store.js';
import type { JournalStore } from '../../journal/store.js';
import { filterRuns, pageOfRuns, withTheirWorkers } from '../../src/api/team/filter-runs.js';
import { createTeamCosts } from '../../src/api/team/team-costs.js';
import { createTeamRuns, questionsIn } from '../../src/api/team/team-runs.js';
import { readStoreActivity } from '../../src/api/team/store-activity.js';
import { recordServed } from '../server/served-run.js';
import { runRef, started } from '../support/written-runs.js';
import { recordSample } from '../server/team-runs.js';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const HOUR_MS = 3_600_000;
const project = { root: '/project', config: {} } as Parameters<typeof createTeamRuns>[0]['project'];

let stopping = new AbortController();
afterEach(() => {
  stopping.abort();
  stopping = new AbortController();
});

/** A store that counts how often a run is read. */
function counted(): { readonly store: JournalStore; scans(): number } {
  const store = openMemoryStore();
  let scans = 0;
  const scan: JournalStore['scan'] = (...args) => {
    scans += 1;
    return Object.getPrototypeOf(store).scan.apply(store, args) as ReturnType<JournalStore['scan']>;
  };
  return { store: Object.assign(Object.create(store) as JournalStore, { scan }), scans: () => scans };
}

const runsOf = (store: JournalStore) => createTeamRuns({ store, project, nowMs: () => NOW_MS });
const costsOf = (store: JournalStore) =>
  createTeamCosts({ store, monotonicMs: () => 0, onError: (error) => expect.unreachable(String(error)), stopping: stopping.signal });

async function sampled(): Promise<JournalStore> {
  const store = openMemoryStore();
  await recordSample(store, { workflow: 'llm/run/patrol.mld', atMs: NOW_MS - 30 * HOUR_MS, user: 'ada', usd: 1 });
  await recordSample(store, {
    workflow: 'llm/run/patrol.mld',
    atMs: NOW_MS - 2 * HOUR_MS,
    user: 'bob',
    host: 'box',
    usd: 2,
    status: 'failed',
  });
  await recordSample(store, { workflow: 'audit/main.mld', atMs: NOW_MS - HOUR_MS, user: 'ada', usd: 4 });
  return store;
}

describe('a list of all runs', () => {
  it('says how long a run took by its own clock, where that is an hour off the one that made its id', async () => {
    const store = openMemoryStore();
    await recordSample(store, { workflow: 'llm/run/patrol.mld', atMs: Date.now() + HOUR_MS });
    await recordSample(store, { workflow: 'llm/run/patrol.mld', atMs: Date.now() - HOUR_MS });
    const { runs } = await runsOf(store).list();
    const files = await store.runs(workflowOf('llm/run/patrol.mld'));
    for (const { run, durationMs } of runs) {
      const file = files.find(({ ref }) => ref.run === run);
      let firstTs = '';
      await store.scan({ workflow: workflowOf('llm/run/patrol.mld'), run }, ({ ts }) => void (firstTs = ts), { eventsMax: 1 });
      expect(durationMs).toBe(Date.parse(file?.finished?.ts ?? '') - Date.parse(firstTs));
    }
  });

  it('names person, script, time, status and cost, the latest first', async () => {
    const { runs } = await runsOf(await sampled()).list();
    expect(runs.map(({ script, person, status, costUsd }) => [script, person, status, costUsd])).toEqual([
      ['audit', 'ada@laptop', 'completed', 4],
      ['patrol', 'bob@box', 'failed', 2],
      ['patrol', 'ada@laptop', 'completed', 1],
    ]);
    expect(runs[0]).toMatchObject({
      workflow: 'audit/main.mld',
      started: '2026-11-20T11:00:00.000Z',
      executed: 1,
      isPipeline: false,
      inFlight: 0,
    });
  });

  it('follows a run that starts later, until it waits and ends', async () => {
    const store = await sampled();
    const team = runsOf(store);
    await team.list();
    const running = await recordSample(store, {
      workflow: 'ferry.dot',
      atMs: NOW_MS - 60_000,
      user: 'eve',
      asks: 'Open the lock?',
      usd: 0.5,
    });
    const list = await team.list();
    expect(list.runs[0]).toMatchObject({ status: 'waiting', isPipeline: true, durationMs: 60_000, costUsd: 0.5, executed: 1 });
    expect(questionsIn(list)).toMatchObject([{ run: running.ref.run, text: 'Open the lock?', script: 'ferry.dot', person: 'eve@laptop' }]);
    await running.finish();
    const after = await team.list();
    expect(after.runs[0]).toMatchObject({ status: 'completed', costUsd: 0.5 });
    expect([questionsIn(after), after.inFlight.size]).toEqual([[], 0]);
  });

  it('reads a run that is over once, and one in flight only behind what it knows', async () => {
    const { store, scans } = counted();
    for (let n = 0; n < 20; n++) await recordSample(store, { workflow: `w${n % 3}.mld`, atMs: NOW_MS - n * HOUR_MS, user: 'ada' });
    const team = runsOf(store);
    await team.list();
    expect(scans()).toBe(20); // their first events
    await Promise.all([team.list(), team.list(), team.list()]);
    expect(scans()).toBe(20);
  });

  it('asks a store that can for the first events of a workflow at once', async () => {
    const { store, scans } = counted();
    for (let n = 0; n < 5; n++) await recordSample(store, { workflow: 'w.mld', atMs: NOW_MS - n * HOUR_MS });
    const asked: number[] = [];
    const firstEvents: JournalStore['firstEvents'] = async (_, runs) => {
      asked.push(runs.length);
      return new Map();
    };
    const team = runsOf(Object.assign(Object.create(store) as JournalStore, { firstEvents }));
    await team.list();
    await team.list();
    expect([asked, scans()]).toEqual([[5], 0]);
  });
});

describe('a filter', () => {
  it('finds words in any of script, person, status and model, and counts statuses of what fits the rest', async () => {
    const { runs } = await runsOf(await sampled()).list();
    const idsOf = (filter: Parameters<typeof filterRuns>[1]) => filterRuns(runs, filter).map(({ costUsd }) => costUsd);
    expect(idsOf({ text: 'PATROL bob' })).toEqual([2]);
    expect(idsOf({ text: 'opus ada@' })).toEqual([4, 1]);
    expect(idsOf({ text: '.*' })).toEqual([]);
    expect(idsOf({ person: 'ada@laptop', workflow: 'audit/main.mld' })).toEqual([4]);
    expect(idsOf({ sinceMs: NOW_MS - 3 * HOUR_MS })).toEqual([4, 2]);
    const page = pageOfRuns(runs, { statuses: ['completed'] }, { offset: 1, limit: 1 });
    expect(page).toMatchObject({
      matching: 2,
      total: 3,
      offset: 1,
      statuses: { completed: 2, failed: 1 },
      people: ['ada@laptop', 'bob@box'],
    });
    expect(page.runs.map(({ costUsd }) => costUsd)).toEqual([1]);
    expect(pageOfRuns(runs, {}, { offset: 100, limit: 50 }).runs).toEqual([]);
  });
});

describe('costs', () => {
  it('are added up by day, person and workflow at once, and by function when the runs were read', async () => {
    const store = await sampled();
    const list = await runsOf(store).list();
    const reader = costsOf(store);
    const first = await reader.costs(list, list.runs);
    expect(first.total).toMatchObject({ runs: 3, executed: 3, costUsd: 7 });
    expect(first.days.map(({ day, costUsd, runs }) => [day, costUsd, runs])).toEqual([
      ['2026-11-19', 1, 1],
      ['2026-11-20', 6, 2],
    ]);
    expect(first.people.map(({ person, costUsd }) => [person, costUsd])).toEqual([
      ['ada@laptop', 5],
      ['bob@box', 2],
    ]);
    expect(first.workflows.map(({ script, costUsd }) => [script, costUsd])).toEqual([
      ['audit', 4],
      ['patrol', 3],
    ]);
    expect([first.pending, first.functions]).toEqual([3, []]);
    await reader.idle();
    const counted = await reader.costs(list, list.runs);
    expect([counted.pending, counted.functions]).toMatchObject([0, [{ fn: 'ask', runs: 3, executed: 3, costUsd: 7 }]]);
  });

  it('are whole billionths of a dollar, so that the order of the runs makes no difference', async () => {
    const store = openMemoryStore();
    for (const [n, usd] of [0.1, 0.2].entries()) await recordSample(store, { workflow: 'w.mld', atMs: NOW_MS - n * HOUR_MS, usd });
    const list = await runsOf(store).list();
    expect((await costsOf(store).costs(list, list.runs)).total).toMatchObject({ runs: 2, costUsd: 0.3 });
  });

  it('count no run and no person for the record of a rejected result', async () => {
    const store = await sampled();
    const journal = await store.create({ workflow: workflowOf('audit/main.mld'), run: runIdAt(NOW_MS, '0000') });
    const totals = { executed: 0, reused: 0, failed: 0 };
    await journal.append(started(journal.ref));
    await journal.append({ type: 'run.finished', status: 'completed', marked: 'rejected', totals });
    await journal.close();
    const list = await runsOf(store).list();
    expect(list.runs[0]).toMatchObject({ status: 'rejected', person: 'here' });
    const { total, people, pending } = await costsOf(store).costs(list, list.runs);
    expect([total.runs, people.map(({ person }) => person), pending]).toEqual([3, ['ada@laptop', 'bob@box'], 3]);
  });

  it('hold the calls of a run in flight', async () => {
    const store = openMemoryStore();
    await recordSample(store, { workflow: 'w.mld', atMs: NOW_MS, usd: 3, isRunning: true });
    const list = await runsOf(store).list();
    expect(await costsOf(store).costs(list, list.runs)).toMatchObject({
      pending: 0,
      total: { costUsd: 3 },
      functions: [{ fn: 'ask', costUsd: 3 }],
    });
  });

  it.each(['over', 'in flight'] as const)(
    'hold a call of a worker once, with its price and its person, where the run is %s',
    async (which) => {
      const store = await recordServed({ isRunning: which === 'in flight' });
      const list = await runsOf(store).list();
      const offering = list.runs.find(({ run }) => run === runRef(1).run);
      expect(offering).toMatchObject({ isServing: false, executed: 1, reused: 2, atWorkers: 2, failed: 1 });
      const ofWorker = list.runs.find(({ run }) => run === runRef(2).run);
      expect(ofWorker).toMatchObject({ status: 'worker', isServing: true, serves: runRef(1).run, person: offering?.person, executed: 2 });
      const reader = costsOf(store);
      const counted = { runs: 1, executed: 3, reused: 0, failed: 1, unresolved: 1, costUsd: 0.04 };
      expect(await reader.costs(list, list.runs)).toMatchObject({
        total: counted,
        days: [counted],
        people: [{ person: offering?.person, ...counted }],
        workflows: [counted],
      });
      await reader.idle();
      expect(await reader.costs(list, list.runs)).toMatchObject({ pending: 0, functions: [{ fn: 'ask', ...counted }] });
      const ofStatus = filterRuns(list.runs, { statuses: [offering?.status ?? ''] });
      expect(ofStatus).toHaveLength(1);
      expect((await reader.costs(list, withTheirWorkers(ofStatus, list.runs))).total).toMatchObject(counted);
    },
  );

  it('are kept for the next server where many runs were read, and read again where the file is damaged', async () => {
    const { store, scans } = counted();
    for (let n = 0; n < 25; n++) await recordSample(store, { workflow: 'w.mld', atMs: NOW_MS - n * HOUR_MS, usd: 1 });
    const list = await runsOf(store).list();
    const reader = costsOf(store);
    await reader.costs(list, list.runs);
    await reader.idle();
    const before = scans();
    expect(await costsOf(store).costs(list, list.runs)).toMatchObject({ pending: 0, functions: [{ fn: 'ask', costUsd: 25 }] });
    expect(scans()).toBe(before);
    await store.writeDerived(list.runs[0]!.workflow, 'team-figures', '{"version":1,"runs":');
    expect(await costsOf(store).costs(list, list.runs)).toMatchObject({ pending: 25 });
  });
});

it('has nothing of a store where runs are kept in files', async () => {
  expect(await readStoreActivity(openMemoryStore())).toEqual({
    isShared: false,
    writers: [],
    lanes: [],
    sharedLanes: [],
    budgets: [],
    damaged: [],
  });
});
