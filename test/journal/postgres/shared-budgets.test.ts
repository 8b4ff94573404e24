/** Runs reserve in the budgets that they share, end well or badly, and leave what they spent. team-store.md 8. */
import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../../journal/canonical.js';
import type { Fact } from '../../../journal/event.js';
import type { CallKey, OpPath } from '../../../journal/ids.js';
import { Connection, type Row, type SqlClient } from '../../../journal/postgres/connection.js';
import type { ReserveRequest } from '../../../journal/postgres/limits/shared-budgets.js';
import { migrate } from '../../../journal/postgres/migrate.js';
import { openTeamStore, type TeamStore } from '../../../journal/postgres/open-store.js';
import type { Journal } from '../../../journal/store.js';
import { callCompleted, callStarted, finished, runRef, started } from '../support/facts.js';
import { makeDatabase, noServer, openTestStore } from './database.js';
import { openPglite } from './pglite.js';

interface Opened {
  readonly store: TeamStore;
  readonly query: (text: string) => Promise<readonly Row[]>;
}

const opened: TeamStore[] = [];
afterAll(() => Promise.all(opened.map((store) => store.close())));

describe.skipIf(noServer !== undefined)(`on a server${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : undefined;
  budgetContract(() => {
    const store = openTestStore(database?.project() ?? '');
    return { store, query: async (text) => (await database?.query(text, [])) ?? [] };
  });
});

describe('in this process', async () => {
  const pglite = await openPglite();
  const shared: SqlClient = { ...pglite, end: async () => undefined };
  const connection = new Connection(
    async () => shared,
    async () => undefined,
    'pglite',
  );
  await migrate(connection, { dryRun: false, asSuperuser: true });
  afterAll(() => pglite.end());
  let projects = 0;
  budgetContract(() => ({
    store: openTeamStore({
      connect: async () => shared,
      project: `p${++projects}`,
      shown: 'pglite',
      keys: { sealingKey: undefined, read: async () => undefined, make: async () => randomBytes(32) },
      allowUnsafe: true,
    }),
    query: (text) => pglite.query(text, []),
  }));
});

function budgetContract(openStore: () => Opened): void {
  const open = (): Opened => {
    const made = openStore();
    opened.push(made.store);
    return made;
  };
  const reserveOf = ({ budgets }: TeamStore, run: number) => {
    return (n: number, usd: number, more: Partial<ReserveRequest> = {}) =>
      budgets.reserve({ run: runRef(run), key: sha256(`key ${n}`), try: 1, names: ['nightly'], usd, ...more });
  };
  const sums = async ({ budgets }: TeamStore): Promise<readonly [spent: number, reserved: number]> => {
    const [budget] = await budgets.list();
    return [budget?.spent ?? Number.NaN, budget?.reserved ?? Number.NaN];
  };
  const cost = (n: number, costUsd: number) =>
    ({ ...callCompleted(n, `\\u0000 and \u0000 and \ud800 of ${n}`), usage: { costUsd } }) as const;

  it('reserves while there is room, whoever asks, and settles with the event that ends the attempt', async () => {
    const { store } = open();
    await store.budgets.set('nightly', { unit: 'usd', total: 1 });
    const [one, two] = [await store.create(runRef(1)), await store.create(runRef(2))];
    expect(await reserveOf(store, 1)(0, 0.4)).toBeUndefined();
    expect(await reserveOf(store, 1)(0, 0.4)).toBeUndefined(); // its answer was lost
    expect(await reserveOf(store, 2)(0, 0.4)).toBeUndefined();
    expect(await sums(store)).toEqual([0, 0.8]);
    const full = { kind: 'full', amount: 0.4, budget: { name: 'nightly', unit: 'usd', period: null, total: 1, spent: 0, reserved: 0.8 } };
    expect(await reserveOf(store, 2)(1, 0.4)).toEqual(full);
    await one.append(started);
    await one.append(callStarted(0));
    expect(await sums(store)).toEqual([0, 0.8]);
    await one.append(cost(0, 0.25));
    expect(await sums(store)).toEqual([0.25, 0.4]);
    expect(await reserveOf(store, 2)(1, 0.35)).toBeUndefined();
    expect(await reserveOf(store, 2)(2, 0)).toMatchObject({ kind: 'full', amount: 0 }); // a used-up budget lets nothing begin
    await two.append(callStarted(0));
    await two.append(cost(0, 0.5)); // more than it had reserved
    expect(await sums(store)).toEqual([0.75, 0.35]);
    expect(await reserveOf(store, 1)(3, 0)).toMatchObject({ kind: 'full' });
    await Promise.all([one.close(), two.close()]);
  });

  it('tells the tries of a call apart, and counts a failed one', async () => {
    const { store } = open();
    await store.budgets.set('nightly', { unit: 'usd', total: 1 });
    const run = await store.create(runRef(1));
    await reserveOf(store, 1)(0, 0.1);
    await run.append(callStarted(0));
    const { key, op } = callStarted(0) as { readonly key: string; readonly op: string };
    const failed = { type: 'call.failed', key, op, message: 'no', elapsedMs: 1, usage: { costUsd: 0.02 } };
    await run.append(failed as Parameters<typeof run.append>[0]);
    await reserveOf(store, 1)(0, 0.1, { try: 2 });
    expect(await sums(store)).toEqual([0.02, 0.1]);
    await run.append({ ...callStarted(0), try: 2 } as Parameters<typeof run.append>[0]);
    await run.append({ ...cost(0, 0.03), try: 2 } as Parameters<typeof run.append>[0]);
    expect(await sums(store)).toEqual([0.05, 0]);
    await run.close();
  });

  it('counts what the dead had begun as spent, and frees what they had not', async () => {
    const { store, query } = open();
    await store.budgets.set('nightly', { unit: 'usd', total: 1 });
    const dead = await store.create(runRef(1));
    const living = await store.create(runRef(2));
    await reserveOf(store, 1)(0, 0.3);
    await reserveOf(store, 1)(1, 0.6);
    await dead.append(callStarted(0));
    expect(await sums(store)).toEqual([0, 0.9]);
    await query(`update mlld.runs set lease_until = '-infinity' where run = '${runRef(1).run}'`);
    expect(await reserveOf(store, 2)(0, 0.7)).toBeUndefined(); // this one finds the lease over
    expect(await sums(store)).toEqual([0.3, 0.7]);
    await dead.append(callCompleted(0)); // it was only asleep
    expect(await sums(store)).toEqual([0.3, 0.7]);
    await Promise.all([dead.close(), living.close()]);
  });

  it('gives back what an attempt holds whose start was withdrawn, also where its run had seemed dead', async () => {
    const { store, query } = open();
    await store.budgets.set('nightly', { unit: 'usd', total: 1 });
    const run = await store.create(runRef(1));
    await run.append(started);
    const release = (n: number) => store.budgets.release({ run: runRef(1), key: sha256(`key ${n}`), try: 1 });
    for (const n of [0, 1, 2]) {
      await reserveOf(store, 1)(n, 0.2);
      await run.append(callStarted(n));
    }
    await release(0);
    await release(0); // its answer was lost
    expect(await sums(store)).toEqual([0, 0.4]);
    await query(`update mlld.runs set lease_until = clock_timestamp() - interval '1 minute', lease_s = 0
      where run_id in (select run_id from mlld.runs where run = '${runRef(1).run}' order by run_id desc limit 1)`);
    expect(await sums(store)).toEqual([0.4, 0]);
    await release(1);
    expect(await sums(store)).toEqual([0.2, 0]);
    await run.append(cost(2, 0.3));
    expect(await sums(store)).toEqual([0.3, 0]);
    await run.close();
  });

  it('counts what attempts cost whose process had slept, once it says so', async () => {
    const { store, query } = open();
    await store.budgets.set('nightly', { unit: 'usd', total: 1 });
    const sleeper = await store.create(runRef(1));
    await sleeper.append(started);
    for (const [n, usd] of [0.3, 0, 0.2, 0.1].entries()) {
      expect(await reserveOf(store, 1)(n, usd)).toBeUndefined();
      if (n < 3) await sleeper.append(callStarted(n));
    }
    expect(await sums(store)).toEqual([0, 0.6]);
    const of = `run_id in (select run_id from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
      where r.run = '${runRef(1).run}' order by run_id desc limit 1)`;
    await query(`update mlld.runs set lease_until = clock_timestamp() - interval '1 minute', lease_s = 0 where ${of}`);
    const rounded = async (): Promise<readonly number[]> => (await sums(store)).map((sum) => Math.round(sum * 100));
    expect(await rounded()).toEqual([60, 0]); // the last one had not begun, and may yet
    expect(await rounded()).toEqual([60, 0]);
    await sleeper.append(cost(0, 0.25));
    await sleeper.append(cost(1, 0.4)); // nobody had known what it would cost
    await sleeper.append(callCompleted(2)); // nobody says what it did
    expect(await rounded()).toEqual([95, 0]);
    await sleeper.append(finished);
    await sleeper.close();
    expect(await query(`select from mlld.reservations where ${of}`)).toEqual([]);
    expect(await rounded()).toEqual([85, 0]); // it never began
  });

  it('reserves for an attempt of unknown cost the largest that any run has told', async () => {
    const { store } = open();
    await store.budgets.set('nightly', { unit: 'usd', total: 1 });
    const run = await store.create(runRef(1));
    const worker = await store.create(runRef(2));
    await run.append(started);
    const unknown = (n: number) => store.budgets.reserve({ run: runRef(2), key: sha256(`key ${n}`), try: 1, names: ['nightly'] });
    expect(await unknown(7)).toBeUndefined();
    expect(await sums(store)).toEqual([0, 0]); // nobody has told a cost yet
    for (const [n, usd] of [0.3, 0.2].entries()) {
      expect(await reserveOf(store, 1)(n, usd)).toBeUndefined();
      await run.append(callStarted(n));
      await run.append(cost(n, usd));
    }
    expect(await unknown(8)).toBeUndefined();
    expect(await sums(store)).toEqual([0.5, 0.3]);
    expect(await unknown(9)).toMatchObject({ kind: 'full', amount: 0.3 });
    await Promise.all([run.close(), worker.close()]);
  });

  it('counts an attempt that begins once its process has slept, and lets nobody use what it had reserved', async () => {
    const { store, query } = open();
    await store.budgets.set('nightly', { unit: 'usd', total: 1 });
    const sleeper = await store.create(runRef(1));
    const other = await store.create(runRef(2));
    await Promise.all([sleeper.append(started), other.append(started)]);
    expect(await reserveOf(store, 1)(0, 0.6)).toBeUndefined();
    await query(
      `update mlld.runs set lease_until = clock_timestamp() - interval '1 minute', lease_s = 0 where run_id in (select run_id
        from mlld.reservations)`,
    );
    expect(await reserveOf(store, 2)(1, 0.6)).toMatchObject({ kind: 'full' });
    await sleeper.append(callStarted(0));
    await sleeper.append(cost(0, 0.7));
    expect(await sums(store)).toEqual([0.7, 0]);
    await Promise.all([sleeper.close(), other.close()]);
  });

  it('counts it also behind a rebuild, which knows that nothing had begun', async () => {
    const { store, query } = open();
    await store.budgets.set('nightly', { unit: 'usd', total: 1 });
    const sleeper = await store.create(runRef(1));
    await sleeper.append(started);
    expect(await reserveOf(store, 1)(0, 0.6)).toBeUndefined();
    await query(
      `update mlld.runs set lease_until = clock_timestamp() - interval '1 minute', lease_s = 0 where run_id in (select run_id
        from mlld.reservations)`,
    );
    expect(await sums(store)).toEqual([0.6, 0]);
    expect((await store.rebuild({ dryRun: false })).kind).toBe('rebuilt');
    expect(await sums(store)).toEqual([0, 0]);
    await sleeper.append(callStarted(0));
    await sleeper.append(cost(0, 0.7));
    expect(await sums(store)).toEqual([0.7, 0]);
    await sleeper.close();
  });

  it('has spent what the journals say when the store is rebuilt', async () => {
    const { store, query } = open();
    await store.budgets.set('nightly', { unit: 'usd', total: 1 });
    await store.budgets.set('tokens', { unit: 'tok', total: 1000 });
    await store.budgets.set('counted', { unit: 'calls', total: 10 });
    const names = ['nightly', 'tokens', 'counted'];
    const [ended, dead] = [await store.create(runRef(1)), await store.create(runRef(2))];
    const begin = async (journal: Journal, n: number, attempt = 1): Promise<void> => {
      const reserved = { usd: 0.1, tokens: 20 };
      expect(await store.budgets.reserve({ run: journal.ref, key: sha256(`key ${n}`), try: attempt, names, ...reserved })).toBeUndefined();
      const fact = { ...callStarted(n), reserved: { ...reserved, basis: 'maxCost', shared: names }, ...(attempt > 1 && { try: attempt }) };
      await journal.append(fact as Fact);
    };
    const { key, op } = callStarted(1) as { readonly key: CallKey; readonly op: OpPath };
    await begin(ended, 0);
    await ended.append({ ...cost(0, 0.25), usage: { costUsd: 0.25, inputTokens: 3, outputTokens: 4 } } as Fact);
    await begin(ended, 1);
    await ended.append({ type: 'call.failed', key, op, message: '"shared":[\u0000', elapsedMs: 1, usage: { costUsd: 0.02 } } as Fact);
    await begin(ended, 1, 2);
    await ended.append({ ...cost(1, 0.03), try: 2 } as Fact);
    await begin(ended, 2);
    await ended.append({ ...cost(2, 5), onlyCalls: true } as Fact); // its cost is that of the calls in it
    await ended.append(callStarted(3)); // of no budget
    await ended.append(cost(3, 7));
    await ended.append(finished);
    await ended.close();
    await begin(dead, 0);
    await query(`update mlld.runs set lease_until = '-infinity' where run = '${runRef(2).run}'`);
    const before = await store.budgets.list();
    expect(before.map(({ name, spent }) => [name, spent])).toEqual([
      ['counted', 5],
      ['nightly', 0.4],
      ['tokens', 27],
    ]);
    await query(`update mlld.budgets set spent = 1000, reserved = 3`);
    const { project_id: project } = (await query('select max(project_id)::int as project_id from mlld.budgets'))[0]!;
    await query(`insert into mlld.reservations (run_id, workflow_id, key, project_id, name, amount)
      select run_id, workflow_id, 'left over', ${Number(project)}, 'nightly', 1 from mlld.runs where run = '${runRef(2).run}' order by run_id desc limit 1`);
    const outcome = await store.rebuild({ dryRun: false });
    expect(outcome).toMatchObject({
      kind: 'rebuilt',
      report: { budgets: before.map(({ name, spent }) => ({ name, spent, spentBefore: 1000 })) },
    });
    expect(await store.budgets.list()).toEqual(before);
    await dead.close();
  });

  it('leaves nothing reserved behind a run that has ended, or was removed', async () => {
    const { store, query } = open();
    await store.budgets.set('nightly', { unit: 'calls', total: 10 });
    const [ended, removed] = [await store.create(runRef(1)), await store.create(runRef(2))];
    for (const run of [1, 2]) for (const n of [0, 1]) await reserveOf(store, run)(n, 0);
    await ended.append(callStarted(0));
    await removed.append(callStarted(0));
    const reserved = async (): Promise<number> => {
      const [row] = await query(`select reserved::int as n from mlld.budgets where name = 'nightly' and unit = 'calls'`); // `list` would sweep
      return Number(row?.['n']);
    };
    await ended.append(finished);
    expect(await reserved()).toBe(2);
    await removed.close();
    await store.deleteRun(runRef(2));
    expect(await sums(store)).toEqual([2, 0]);
    await ended.close();
  });

  it('reserves in all budgets or in none', async () => {
    const { store } = open();
    await store.budgets.set('nightly', { unit: 'usd', total: 1 });
    await store.budgets.set('words', { unit: 'tok', total: 100 });
    const run = await store.create(runRef(1));
    const reserve = reserveOf(store, 1);
    const both = { names: ['words', 'nightly'], tokens: 80 };
    expect(await reserve(0, 0.1, both)).toBeUndefined();
    expect(await reserve(1, 0.1, both)).toMatchObject({ kind: 'full', budget: { name: 'words', reserved: 80 }, amount: 80 });
    expect(await reserve(1, 0.1, { names: ['nightly', 'none'] })).toEqual({ kind: 'missing', name: 'none' });
    expect(await store.budgets.list()).toMatchObject([{ reserved: 0.1 }, { reserved: 80 }]);
    await run.append(callStarted(0));
    await run.append({ ...callCompleted(0), usage: { costUsd: 0.1, inputTokens: 50, outputTokens: 7 } } as Parameters<
      typeof run.append
    >[0]);
    expect(await store.budgets.list()).toMatchObject([
      { name: 'nightly', spent: 0.1, reserved: 0 },
      { name: 'words', spent: 57, reserved: 0 },
    ]);
    await run.close();
  });

  it('begins anew with a day or month, and keeps what is reserved', async () => {
    const { store, query } = open();
    await store.budgets.set('nightly', { unit: 'usd', total: 1, period: 'day' });
    const run = await store.create(runRef(1));
    const reserve = reserveOf(store, 1);
    await reserve(0, 0.5);
    await run.append(callStarted(0));
    await run.append(cost(0, 1));
    await reserve(1, 0);
    expect(await reserve(1, 0.1)).toMatchObject({ kind: 'full', budget: { period: 'day', spent: 1 } });
    await query(`update mlld.budgets set began = began - interval '40 days'`);
    expect(await sums(store)).toEqual([0, 0]);
    expect(await reserve(1, 0.1)).toBeUndefined();
    await run.append(callStarted(1));
    await run.append(cost(1, 0.125));
    expect(await sums(store)).toEqual([0.125, 0]);
    expect(await store.budgets.set('nightly', { unit: 'usd', total: 2 })).toMatchObject({ period: 'day', total: 2, spent: 0.125 });
    expect(await store.budgets.set('nightly', { unit: 'usd', total: 2, period: 'project' })).toMatchObject({ period: null });
    expect(await store.budgets.set('nightly', { unit: 'tok', total: 2 })).toBeUndefined();
    await run.close();
  });

  it('never reserves beyond the sum, however many ask at once', async () => {
    const { store } = open();
    await store.budgets.set('nightly', { unit: 'usd', total: 1 });
    const runs = await Promise.all([1, 2, 3].map((n) => store.create(runRef(n))));
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => reserveOf(store, 1 + (n % 3))(n, 0.1)));
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(10);
    expect(await sums(store)).toEqual([0, 1]);
    await Promise.all(runs.map((run) => run.close()));
  });
}
