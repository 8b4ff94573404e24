/** The store of a team says what the processes of a project do at this moment, and returns the first events of many runs at once. */
import { expect, describe, it } from 'vitest';
import { runIdAt, workflowOf, type RunRef } from '../../journal/ids.js';
import type { LaneEvent } from '../../journal/postgres/limits/shared-lanes.js';
import { readStoreActivity } from '../../src/api/team/store-activity.js';
import { createTeamRuns } from '../../src/api/team/team-runs.js';
import { makeDatabase, noServer, openTestStore } from '../journal/postgres/database.js';
import { recordSample } from '../server/team-runs.js';
import { finished, key, started } from '../support/written-runs.js';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const JOB = workflowOf('job.mld');
const project = { root: '/project', config: {} } as Parameters<typeof createTeamRuns>[0]['project'];

describe.skipIf(noServer !== undefined)('the store of a team', async () => {
  const database = noServer === undefined ? await makeDatabase() : undefined;

  it('names who writes now, with the calls that are claimed, and budgets; another project has none of it', async () => {
    const store = openTestStore(database!.project());
    const other = openTestStore(database!.project());
    const ref = { workflow: JOB, run: runIdAt(NOW_MS, '0000') };
    const journal = await store.create(ref);
    await journal.append(started(ref));
    await journal.claims?.claim({ key: key('a'), refused: undefined });
    await store.budgets.set('nightly', { unit: 'usd', total: 50, period: 'day' });
    await recordSample(store, { workflow: 'over.mld', atMs: NOW_MS - 1000 });
    const activity = await readStoreActivity(store);
    expect(activity).toMatchObject({
      isShared: true,
      writers: [{ run: ref.run, workflow: JOB, role: 'run', ofRun: null, pid: process.pid, claims: 1 }],
      budgets: [{ name: 'nightly', unit: 'usd', total: 50, spent: 0 }],
    });
    expect(activity.writers[0]?.heardMs).toBeGreaterThanOrEqual(0);
    expect(await readStoreActivity(other)).toEqual({ isShared: true, writers: [], lanes: [], sharedLanes: [], budgets: [], damaged: [] });
    await journal.close();
    await Promise.all([store.close(), other.close()]);
  });

  it('lists the run of a worker as one, and not as a completed run', async () => {
    const store = openTestStore(database!.project());
    const ref = { workflow: JOB, run: runIdAt(NOW_MS + 3000, '0000') };
    const journal = await store.create(ref);
    await journal.append(started(ref));
    await journal.append({ ...finished(), worker: { for: runIdAt(NOW_MS, '0000'), name: 'hut' } } as ReturnType<typeof finished>);
    await journal.close();
    const { runs } = await createTeamRuns({ store, project, nowMs: () => NOW_MS + 9000 }).list();
    expect(runs).toMatchObject([{ run: ref.run, status: 'worker' }]);
    await store.close();
  });

  it('counts offers by lane while the run that offers them is alive', async () => {
    const address = database!.project();
    const store = openTestStore(address);
    const ref = { workflow: JOB, run: runIdAt(NOW_MS + 1000, '0000') };
    const journal = await store.create(ref);
    await journal.append(started(ref));
    await journal.claims?.claim({ key: key('a'), refused: undefined });
    await database!.query(
      `insert into mlld.offers (workflow_id, key, run_id, lane, call)
       select r.workflow_id, k, r.run_id, 'opus', '{}' from mlld.runs r, unnest($2::text[]) k where r.run = $1`,
      [ref.run, [key('a'), key('b'), key('c')]],
    );
    const [lane] = (await readStoreActivity(store)).lanes;
    expect(lane).toMatchObject({ lane: 'opus', waiting: 2, claimed: 1 });
    expect(lane?.oldestMs).toBeGreaterThanOrEqual(0);
    await database!.query(`update mlld.runs set lease_until = '-infinity' where run = $1`, [ref.run]);
    expect((await readStoreActivity(store)).lanes).toEqual([]);
    await journal.close().catch(() => undefined); // its lease was taken
    await store.close();
  });

  it('names the processes that hold the places of a shared lane, until their attempts or runs end', async () => {
    const store = openTestStore(database!.project());
    const [one, two] = [5000, 6000].map((ms) => ({ workflow: JOB, run: runIdAt(NOW_MS + ms, '0000') })) as [RunRef, RunRef];
    const journals = [await store.create(one), await store.create(two)];
    await journals[0]!.append(started(one));
    await journals[1]!.append(started(two));
    const start = (id: number): LaneEvent => ({ kind: 'start', id, waited: 'not' });
    const common = { lane: 'claude', seen: 0, isExact: false, others: [] };
    await store.lanes.exchange({
      ...common,
      run: one,
      events: [start(1), start(2), { kind: 'end', id: 1, how: 'accepted' }],
      limits: undefined,
    });
    await store.lanes.exchange({ ...common, run: two, events: [start(1), start(2)], limits: { limit: 4, heldMs: 60_000 } });
    const [lane, ...others] = (await readStoreActivity(store)).sharedLanes;
    const holder = { workflow: JOB, role: 'run', pid: process.pid };
    expect(others).toEqual([]);
    expect(lane).toMatchObject({
      lane: 'claude',
      limit: 4,
      holders: [
        { ...holder, run: two.run, attempts: 2 },
        { ...holder, run: one.run, attempts: 1 },
      ],
    });
    expect(lane?.heldMs).toBeGreaterThan(0);
    expect(lane?.holders[0]?.oldestMs).toBeGreaterThanOrEqual(0);
    await journals[1]!.append(finished());
    expect((await readStoreActivity(store)).sharedLanes[0]?.holders).toMatchObject([{ run: one.run }]);
    await Promise.all(journals.map((journal) => journal.close()));
    await store.close();
  });

  it('lists a thousand runs with their people in a few requests', async () => {
    const address = database!.project();
    const store = openTestStore(address);
    for (const [n, user] of ['ada', 'bob'].entries())
      await recordSample(store, { workflow: 'job.mld', atMs: NOW_MS + 3_600_000 + n, user, usd: 2 });
    // Copies of the two: each event has to be where it is.
    await database!.query(
      `with made as (
         insert into mlld.runs (workflow_id, run, next_seq, bytes, hash, finished, lease_until, writer)
         select workflow_id, left(run, 19) || '-' || lpad(n::text, 4, '0'), next_seq, bytes, hash, finished, lease_until, writer
         from mlld.runs, generate_series(1, 499) n where workflow_id in
           (select w.workflow_id from mlld.workflows w join mlld.projects p using (project_id) where p.name = $1)
         returning run_id, run)
       insert into mlld.events (run_id, at, seq, line) select m.run_id, e.at, e.seq, e.line
         from made m join mlld.runs r on left(r.run, 19) = left(m.run, 19) and r.run like '%-0000' join mlld.events e on e.run_id = r.run_id`,
      [new URL(address).searchParams.get('project')],
    );
    let scans = 0;
    const scan: typeof store.scan = (...args) => {
      scans += 1;
      return store.scan(...args);
    };
    const { runs } = await createTeamRuns({
      store: Object.assign(Object.create(store) as typeof store, { scan }),
      project,
      nowMs: () => NOW_MS,
    }).list();
    expect([runs.length, scans]).toEqual([1000, 0]);
    expect(runs.filter(({ person, costUsd }) => person === 'ada@laptop' && costUsd === 2)).toHaveLength(500);
    await store.close();
  });
});
