/** Rows that a colleague's SQL has changed are named in a line each, and hide no others. Others can't be written at all. */
import { describe, expect, it } from 'vitest';
import { workflowOf, runIdAt } from '../../journal/ids.js';
import { MIGRATIONS } from '../../journal/postgres/schema/migrations.js';
import { readStoreActivity } from '../../src/api/team/store-activity.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../journal/postgres/database.js';
import { projectFolder, runCli } from '../support/cli.js';
import { finished, started } from '../support/written-runs.js';

const REFUSED = { cause: expect.objectContaining({ code: '23514' }) };
const SUMS = 'the sums of the shared budget nightly are no amounts: mlld store rebuild makes them anew';

describe.skipIf(noServer !== undefined)(`damaged rows${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const older = noServer === undefined ? await makeDatabase({ migrated: false }) : database;

  async function open() {
    const url = database.project();
    const store = openTestStore(url);
    const ref = { workflow: workflowOf('job.mld'), run: runIdAt(Date.UTC(2026, 10, 20, 12), '0000') };
    const journal = await store.create(ref);
    await journal.append(started(ref));
    const project = new URL(url).searchParams.get('project');
    const start = { kind: 'start', id: 1, waited: 'not' } as const;
    for (const lane of ['bad', 'good']) {
      const limits = { limit: 4, gapMs: 250 };
      await store.lanes.exchange({ run: ref, lane, seen: 0, events: [start], isExact: false, limits, others: [] });
    }
    const change = (set: string, lane = 'bad') =>
      database.query(
        `update mlld.limits l set ${set} from mlld.projects p where p.project_id = l.project_id and p.name = $1 and lane = $2`,
        [project, lane],
      );
    return { url, store, ref, journal, change, project };
  }

  it.each(['"four"', '7', '[]', '{}', '{"limit":"four"}', '{"limit":4,"gapMs":-1}', '{"limit":1e400}', '{"limit":null}'])(
    'what a lane has learned is %s',
    async (limits) => {
      const { store, journal, change } = await open();
      await change(`limits = '${limits}'`);
      const { damaged, sharedLanes } = await readStoreActivity(store);
      expect(damaged).toEqual(["what the shared lane bad has learned can't be read: mlld store rebuild empties it"]);
      expect(sharedLanes).toMatchObject([
        { lane: 'bad', limit: null, holders: [{}] },
        { lane: 'good', limit: 4, holders: [{}] },
      ]);
      const states = await store.lanes.states();
      expect(states.map((state) => state.limits)).toEqual([undefined, { limit: 4, gapMs: 250 }]);
      await journal.close();
      await store.close();
    },
  );

  it.each(['null', '7', '"start"', '{}', '{"kind":"start"}', '{"kind":"start","id":2,"waited":"long"}', '{"kind":"end","id":1,"how":7}'])(
    'an event of a lane is %s',
    async (event) => {
      const { store, ref, journal, project } = await open();
      await database.query(
        `insert into mlld.lane_events (project_id, lane, n, run_id, event)
         select l.project_id, l.lane, 2, 0, $2::jsonb from mlld.limits l join mlld.projects p using (project_id) where p.name = $1`,
        [project, event],
      );
      expect(await readStoreActivity(store)).toMatchObject({ damaged: [], sharedLanes: [{ lane: 'bad' }, { lane: 'good' }] });
      const asked = { run: ref, lane: 'bad', seen: 0, events: [], isExact: false, limits: undefined, others: [] };
      expect(await store.lanes.exchange(asked)).toMatchObject({ heard: [] });
      await journal.close();
      await store.close();
    },
  );

  it.each(["spent = 'NaN'", "reserved = 'NaN'", 'spent = 1e400'])('a budget whose %s', { timeout: 60_000 }, async (set) => {
    const { url, store, ref, journal, project } = await open();
    const cwd = await projectFolder({ 'mlld-config.json': '{}', 'hi.mld': 'exe llm @a(q) = cmd { echo "@q" }\nshow @a("hi")\n' });
    const run = (...words: string[]) => runCli(words, { cwd, env: { MLLD_STORE: url } });
    for (const name of ['daily', 'nightly']) await store.budgets.set(name, { unit: 'usd', total: 50 });
    await database.query(
      `update mlld.budgets b set ${set} from mlld.projects p where p.project_id = b.project_id and p.name = $1 and b.name = 'nightly'`,
      [project],
    );
    expect(await readStoreActivity(store)).toMatchObject({ damaged: [SUMS], budgets: [{ name: 'daily', total: 50 }] });
    for (const words of [['budget'], ['status']]) {
      const shown = await run('store', ...words);
      expect(shown).toMatchObject({ status: 0, stdout: expect.stringContaining('daily'), stderr: `warning: ${SUMS}\n` });
      expect(shown.stdout).not.toMatch(/nightly|NaN|Infinity/);
    }
    expect(await run('worker', 'status')).toMatchObject({ status: 0, stderr: `warning: ${SUMS}\n` });
    const reserve = { run: ref, key: 'key', try: 1, names: ['nightly'], usd: 1 };
    await expect(store.budgets.reserve(reserve)).rejects.toThrow(/the sums of the shared budget nightly|out of range/);
    expect(await run('hi.mld', '--checkpoint', '--budget', 'nightly')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/the sums of the shared budget nightly are no amounts[^\n]*\n {2}hint: mlld store rebuild/),
    });
    await journal.append(finished());
    await journal.close();
    await store.close();
    const rebuilt = await run('store', 'rebuild');
    expect(rebuilt).toMatchObject({ status: 0, stdout: expect.stringMatching(/Budget nightly: \$0 spent/) });
    expect(rebuilt.stdout).not.toContain('NaN');
    expect(await run('store', 'budget')).toMatchObject({ stdout: expect.stringContaining('nightly'), stderr: '' });
    expect(await run('hi.mld', '--checkpoint', '--budget', 'nightly')).toMatchObject({ status: 0, stdout: 'hi\n' });
  });

  it('a budget whose largest cost is no amount, which attempts of an unknown cost reserve', async () => {
    const { store, ref, journal, project } = await open();
    await store.budgets.set('nightly', { unit: 'usd', total: 50 });
    await database.query(
      `update mlld.budgets b set largest = 'NaN' from mlld.projects p where p.project_id = b.project_id and p.name = $1`,
      [project],
    );
    expect(await readStoreActivity(store)).toMatchObject({ damaged: [SUMS], budgets: [] });
    await journal.append(finished());
    await journal.close();
    expect(await store.rebuild({ dryRun: false })).toMatchObject({ kind: 'rebuilt' });
    expect(await readStoreActivity(store)).toMatchObject({ damaged: [], budgets: [{ name: 'nightly' }] });
    expect(await store.budgets.reserve({ run: ref, key: 'key', try: 1, names: ['nightly'] })).toBeUndefined();
    await store.close();
  });

  it('totals that are no amounts, and times without an end, are refused where they are written', async () => {
    const { store, journal, change, project } = await open();
    await store.budgets.set('nightly', { unit: 'usd', total: 50 });
    for (const total of ['NaN', 'Infinity', '-1']) {
      const set = database.query(`update mlld.budgets set total = $1 where name = 'nightly'`, [total]);
      await expect(set).rejects.toMatchObject(REFUSED);
    }
    await expect(change(`blocked_until = 'infinity'`)).rejects.toMatchObject(REFUSED);
    const event = database.query(
      `insert into mlld.lane_events (project_id, lane, n, run_id, event, at)
       select project_id, 'bad', 9, 0, '{}', 'infinity' from mlld.projects where name = $1`,
      [project],
    );
    await expect(event).rejects.toMatchObject(REFUSED);
    await journal.close();
    await store.close();
  });

  it('that an older store has are made what can be read when it is lifted', async () => {
    for (const { version, statements } of MIGRATIONS) if (version < 18) await older.query(statements);
    await older.query(`insert into mlld.projects (name) values ('p')`);
    await older.query(`insert into mlld.budgets (project_id, name, unit, total) values (1, 'a', 'usd', 'NaN'), (1, 'b', 'usd', 5)`);
    await older.query(`insert into mlld.limits (project_id, lane, tokens, per_second, burst, updated_at, blocked_until)
      values (1, 'l', 0, 0, 0, now(), 'infinity')`);
    await older.query(`insert into mlld.lane_events (project_id, lane, n, run_id, event, at) values (1, 'l', 1, 0, '{}', 'infinity')`);
    await older.query(MIGRATIONS[17]!.statements);
    expect(await older.query('select name, total::int from mlld.budgets order by name')).toEqual([
      { name: 'a', total: 0 },
      { name: 'b', total: 5 },
    ]);
    expect(await older.query('select blocked_until from mlld.limits')).toEqual([{ blocked_until: null }]);
    expect(await older.query('select n from mlld.lane_events')).toEqual([]);
  });
});
