/** Offers of calls, and what workers take of them, on a server. team-store.md 7. */
import { hostname } from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { sha256 } from '../../../../journal/canonical.js';
import type { Fact } from '../../../../journal/event.js';
import { opPath, type CallKey } from '../../../../journal/ids.js';
import type { TeamStore } from '../../../../journal/postgres/open-store.js';
import { livingWorkers, waitingOffers } from '../../../../journal/postgres/workers/team-work.js';
import { waitingWorkers } from '../../../../journal/postgres/workers/waiting-workers.js';
import type { ServedRun } from '../../../../journal/storage/workers.js';
import type { Journal } from '../../../../journal/store.js';
import { callCompleted, callStarted, finished, runRef, started, workflow } from '../../support/facts.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';

const AT_HUT = { name: 'hut', host: hostname() };
const FACTS = { name: 'hut', version: '0.1.0', lanes: { '': 2, claude: 1 } };
const keyOf = (n: number): CallKey => sha256(`key ${n}`);

describe.skipIf(noServer !== undefined)(`offers on a server${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const opened: TeamStore[] = [];
  afterEach(() => Promise.all(opened.splice(0).map((store) => store.close()))); // a server has 100 connections

  function open(url: string): TeamStore {
    const store = openTestStore(url);
    opened.push(store);
    return store;
  }

  /** A run that offers calls 1 to `count`, and a worker that serves it. */
  async function offering(count: number, lane = '') {
    const url = database.project();
    const [store, other] = [open(url), open(url)];
    const run = await store.create(runRef(1));
    await run.append(started);
    for (let n = 1; n <= count; n++) expect(await run.offers?.offer({ key: keyOf(n), lane, call: `{"n":${n}}` })).toBeUndefined();
    const { unserved } = await other.workers.take('hut', { [lane]: 1 }, []);
    const [of] = unserved;
    if (!of) throw new Error('nothing was offered');
    const served = await other.workers.serve(of, FACTS, {});
    await served.journal.append(started);
    const take = (slots = 1) => other.workers.take('hut', { [lane]: slots }, [served]);
    return { url, store, other, run, of, served, take, project: new URL(url).searchParams.get('project') ?? '' };
  }

  async function execute({ journal }: ServedRun, n: number): Promise<void> {
    await journal.append(callStarted(n));
    await journal.append(callCompleted(n, `answer ${n}`));
  }

  const outcomesOf = async (run: Journal) => run.offers?.collectAll();

  it('are taken once, oldest first, and their results are collected with the name of the worker', async () => {
    const { run, served, take, project } = await offering(3);
    const first = await take(2);
    expect(first.taken.map(({ call }) => call).sort()).toEqual(['{"n":1}', '{"n":2}']);
    for (const { key } of first.taken) served.hold(key);
    expect((await take(2)).taken.map(({ call }) => call)).toEqual(['{"n":3}']);
    served.hold(keyOf(3));
    expect((await take(2)).taken).toEqual([]);
    await execute(served, 1);
    const collected = await outcomesOf(run);
    expect(collected?.count).toBe(3);
    expect([...(collected?.outcomes ?? [])]).toMatchObject([
      [keyOf(1), { kind: 'answered', worker: AT_HUT, by: { run: served.journal.ref.run, seq: 2 } }],
    ]);
    run.offers?.withdraw(keyOf(1));
    expect(await run.offers?.atWorkers()).toEqual({ calls: 2, workers: 1 });
    expect(await livingWorkers(database, project)).toMatchObject([{ name: 'hut', held: 2, executed: 1, failed: 0, slots: FACTS.lanes }]);
  });

  it('are waited for by workers that can be seen, until they serve a run, leave, or are gone for a lease', async () => {
    const { url, other, project } = await offering(1);
    const waiting = async () => (await waitingWorkers(database, project)).map(({ name, slots }) => ({ name, slots }));
    await other.workers.present(FACTS); // it serves the run
    expect(await waiting()).toEqual([]);
    const [second, third] = [open(url), open(url)];
    await second.workers.present({ ...FACTS, name: 'bay' });
    await third.workers.present({ ...FACTS, name: 'cove' });
    expect(await waiting()).toEqual(['bay', 'cove'].map((name) => ({ name, slots: FACTS.lanes })));
    await second.workers.leave();
    expect((await waiting()).map(({ name }) => name)).toEqual(['cove']);
    await database.query(`update mlld.workers set lease_until = clock_timestamp() where project = $1`, [project]);
    await database.query(`update mlld.workers set lease_s = 0 where project = $1`, [project]); // the server may have started just now
    expect(await waiting()).toEqual([]);
    await open(url).workers.present({ ...FACTS, name: 'dune' });
    expect(await database.query(`select worker ->> 'name' as name from mlld.workers where project = $1`, [project])).toEqual([
      { name: 'dune' },
    ]);
  });

  it('are taken back unless a worker executes them, also while another run has claimed their calls for itself', async () => {
    const { run, store, take, served } = await offering(3);
    expect((await take()).taken.map(({ key }) => key)).toEqual([keyOf(1)]);
    served.hold(keyOf(1));
    const other = await store.create(runRef(2));
    await other.append(started);
    expect(await other.claims?.claim({ key: keyOf(2), refused: undefined, isAlone: false })).toMatchObject({ kind: 'claimed' });
    const keys = [1, 2, 3].map(keyOf);
    expect([...((await run.offers?.takeBack(keys)) ?? [])].sort()).toEqual([keyOf(2), keyOf(3)].sort());
    expect((await outcomesOf(run))?.count).toBe(1);
  });

  it('are taken again when the answer with the claim was lost, and not while their end is on the way', async () => {
    const { served, take } = await offering(1);
    expect((await take()).taken).toHaveLength(1);
    expect((await take()).taken).toHaveLength(1); // nobody holds it: the first answer was lost
    served.hold(keyOf(1));
    expect((await take()).taken).toHaveLength(0);
    await served.journal.append(callStarted(1));
    const ended = await served.journal.append(callCompleted(1, 'answer'), ({ position }) => served.ended(keyOf(1), position));
    expect(ended.supersededBy).toBeUndefined();
    expect((await take()).taken).toHaveLength(0);
  });

  it('are not taken by the process that holds the call, also when its claim was lost', async () => {
    const { url, other, served, take } = await offering(1);
    const [call] = (await take()).taken;
    served.hold(keyOf(1));
    await database.query('delete from mlld.claims'); // as the heartbeat of another process does when the lease has run out
    expect((await take()).taken).toEqual([]);

    const colleague = await open(url).create(runRef(2));
    await colleague.append(started);
    await colleague.offers?.offer({ key: keyOf(1), lane: '', call: call?.call ?? '' });
    expect((await other.workers.take('hut', { '': 2 }, [served])).unserved).toEqual([]);
    served.giveBack(keyOf(1));
    await expect.poll(async () => (await other.workers.take('hut', { '': 2 }, [served])).unserved).toMatchObject([{ ref: colleague.ref }]);
  });

  it('are not taken again by the run that gives a call back until the server has it: what is taken stays claimed', async () => {
    const { served, take, project } = await offering(1);
    const claims = () =>
      database.query(
        'select from mlld.claims join mlld.workflows using (workflow_id) join mlld.projects p using (project_id) where p.name = $1',
        [project],
      );
    expect((await take()).taken).toHaveLength(1);
    served.hold(keyOf(1));
    served.giveBack(keyOf(1));
    expect((await take()).taken).toEqual([]);
    await expect.poll(async () => (await take()).taken.length).toBe(1);
    await take();
    expect(await claims()).toHaveLength(1);
  });

  it('have no reasons that a run could not read, whoever writes them', async () => {
    const { run } = await offering(1);
    const refused = { cause: expect.objectContaining({ code: '23514' }) };
    for (const said of ['"no"', '["hut"]', 'null', '7']) {
      await expect(database.query('update mlld.offers set declined = $1::jsonb', [said])).rejects.toMatchObject(refused);
    }
    await database.query('update mlld.offers set declined = $1::jsonb', ['{"hut":"no reason","shed":{"why":7}}']);
    expect((await outcomesOf(run))?.count).toBe(1);
  });

  it('are left to others by a worker that declines, and to the run that offers when it is told to stop', async () => {
    const { run, other, served, take } = await offering(1);
    const [offer] = (await take()).taken;
    if (!offer) throw new Error('nothing was taken');
    served.hold(offer.key);
    await other.workers.decline(offer, 'hut', 'another version');
    served.giveBack(offer.key);
    expect((await take()).taken).toEqual([]);
    await expect.poll(async () => (await other.workers.take('shed', { '': 1 }, [served])).taken.length).toBe(1);
    expect((await outcomesOf(run))?.outcomes.size).toBe(0); // a lease has not passed
    served.hold(offer.key);
    await other.workers.decline(offer, 'shed', 'the budget is used up', true);
    served.giveBack(offer.key);
    await expect.poll(async () => [...((await outcomesOf(run))?.outcomes.values() ?? [])].map(({ kind }) => kind)).toEqual(['declined']);
  });

  it('say how a call ended without a result, and are taken by nobody from the moment at which it is free', async () => {
    const { run, other, served, take } = await offering(2);
    const [offer] = (await take()).taken;
    if (!offer) throw new Error('nothing was taken');
    served.hold(offer.key);
    const started = await served.journal.append(callStarted(1));
    const failure: Fact = { type: 'call.failed', key: keyOf(1), op: opPath('main/review#1'), message: 'no', elapsedMs: 1 };
    const failed = await served.journal.append(failure, ({ position }) => served.ended(keyOf(1), position));
    await served.journal.flush();
    const claims = 'select from mlld.claims where run_id in (select run_id from mlld.runs where run = $1)';
    expect(await database.query(claims, [served.journal.ref.run])).toEqual([]);
    const shed = (await other.workers.take('shed', { '': 4 }, [served])).taken;
    expect(shed.map(({ key }) => key)).toEqual([keyOf(2)]);
    const by = { run: served.journal.ref.run, seq: started.seq + 1, position: failed.position };
    expect([...((await run.offers?.collect()) ?? [])]).toEqual([[keyOf(1), { kind: 'ended', worker: AT_HUT, by }]]);
    expect([...((await outcomesOf(run))?.outcomes ?? [])]).toEqual([[keyOf(1), { kind: 'ended', worker: AT_HUT, by }]]);
  });

  it('wait by lane, and end with their run', async () => {
    const { run, other, of, project, take, store } = await offering(2, 'claude');
    expect((await other.workers.take('hut', { '': 4 }, [])).unserved).toEqual([]);
    expect(await waitingOffers(database, project)).toMatchObject({ waiting: 2, lanes: [{ lane: 'claude', waiting: 2 }] });
    expect((await run.offers?.workers())?.lanes).toEqual(new Set(['', 'claude']));
    expect(await other.workers.living([of])).toEqual(new Set([of.id]));
    await run.append(finished);
    await run.close();
    expect((await take()).taken).toEqual([]);
    expect(await waitingOffers(database, project)).toEqual({ waiting: 0, oldestS: null, lanes: [] });
    expect(await other.workers.living([of])).toEqual(new Set());
    expect((await store.runs(workflow)).map(({ isWorker }) => isWorker ?? false)).toEqual([false, true]);
  });

  it('are taken of each run in equal parts, however many another one has offered before', async () => {
    const { store, other, served, take, run } = await offering(20);
    const second = await store.create(runRef(2));
    await second.append(started);
    for (let n = 101; n <= 103; n++) expect(await second.offers?.offer({ key: keyOf(n), lane: '', call: `{"n":${n}}` })).toBeUndefined();
    const [of] = (await take(2)).unserved;
    if (!of) throw new Error('the second run is not seen');
    expect(of.ref.run).toBe(second.ref.run);
    const servedToo = await other.workers.serve(of, FACTS, {});
    await servedToo.journal.append(started);
    const both = [served, servedToo] as const;
    const takeOf = async (slots: number): Promise<readonly number[]> => {
      const { taken } = await other.workers.take('hut', { '': slots }, both);
      for (const offer of taken) (offer.of.ref.run === run.ref.run ? served : servedToo).hold(offer.key);
      return taken.map(({ call }) => (JSON.parse(call) as { n: number }).n).sort((a, b) => a - b);
    };
    expect(await takeOf(4)).toEqual([1, 2, 101, 102]);
    // Slots that one run leaves go to the other.
    expect(await takeOf(5)).toEqual([3, 4, 5, 6, 103]);
    expect(await takeOf(1)).toEqual([7]);
    // A run of which nothing is executed comes before one that has calls at workers.
    expect(await second.offers?.offer({ key: keyOf(104), lane: '', call: '{"n":104}' })).toBeUndefined();
    expect(await takeOf(1)).toEqual([104]);
  });

  it('are found again by the worker that gave one back, and by others that took later ones', async () => {
    const { url, run, served, take, other } = await offering(6);
    const numbersOf = ({ taken }: { readonly taken: readonly { readonly call: string }[] }): readonly number[] =>
      taken.map(({ call }) => (JSON.parse(call) as { n: number }).n);
    const hold = (by: ServedRun, ns: readonly number[]): void => {
      for (const n of ns) by.hold(keyOf(n));
    };
    expect(numbersOf(await take(2))).toEqual([1, 2]);
    hold(served, [1, 2]);
    const second = open(url);
    const of = { id: served.of.id, ref: run.ref };
    const servedToo = await second.workers.serve(of, { ...FACTS, name: 'bay' }, {});
    await servedToo.journal.append(started);
    const takeToo = (slots: number) => second.workers.take('bay', { '': slots }, [servedToo]);
    expect(numbersOf(await takeToo(2))).toEqual([3, 4]);
    hold(servedToo, [3, 4]);
    const giveBack = async (n: number): Promise<void> => {
      served.giveBack(keyOf(n));
      await turn();
      await other.workers.living([of]); // is answered behind it
    };
    await giveBack(1);
    expect(numbersOf(await take(1))).toEqual([1]);
    hold(served, [1]);
    await giveBack(2);
    expect(numbersOf(await takeToo(3))).toEqual([2, 5, 6]);
  });

  it('are taken over from the dead without a wait for another worker that does so', async () => {
    const { run, served, take } = await offering(3);
    const dead = await open(database.project()).create(runRef(7)); // a run whose lease has run out
    await dead.append(started);
    await database.query(`update mlld.runs set lease_until = '-infinity' where run = $1`, [runRef(7).run]);
    await database.query(
      `insert into mlld.claims (workflow_id, key, run_id) select f.workflow_id, u.key, d.run_id
       from mlld.runs r join mlld.workflows f using (workflow_id), mlld.runs d, unnest($2::text[]) as u (key)
       where r.run = $1 and r.run_id = $3::bigint and d.run = $4`,
      [run.ref.run, [keyOf(1), keyOf(2)], served.of.id, runRef(7).run],
    );
    await database.query('begin');
    await database.query('select from mlld.claims where key = $1 for update', [keyOf(1)]);
    expect((await take(3)).taken.map(({ key }) => key)).toEqual([keyOf(2), keyOf(3)]);
    await database.query('rollback');
    for (const n of [2, 3]) served.hold(keyOf(n));
    expect((await take(3)).taken.map(({ key }) => key)).toEqual([keyOf(1)]);
  });

  it('show a run to all workers that look at the same moment and do not serve it yet', async () => {
    const url = database.project();
    const [store, other] = [open(url), open(url)];
    const run = await store.create(runRef(1));
    await run.append(started);
    await run.offers?.offer({ key: keyOf(1), lane: '', call: '{"n":1}', refused: undefined });
    const project = new URL(url).searchParams.get('project');
    await database.query('begin');
    const seen = await database.query(`select state from mlld.take_offers($1, 'hut', '{"": 1}', '{}')`, [project]);
    expect((await other.workers.take('bay', { '': 1 }, [])).unserved).toMatchObject([{ ref: run.ref }]);
    await database.query('rollback');
    expect(seen).toEqual([{ state: 'new' }]);
  });

  it('are collected with the line of their result, without a look at all offers', async () => {
    const { run, store, served, take } = await offering(3);
    const [offer] = (await take()).taken;
    if (!offer) throw new Error('nothing was taken');
    served.hold(offer.key);
    expect(await run.offers?.collect()).toEqual(new Map());
    await execute(served, 1);
    const ended = await run.offers?.collect();
    const place = { run: served.journal.ref.run, seq: 2 };
    expect([...(ended ?? [])]).toMatchObject([[keyOf(1), { kind: 'ended', worker: AT_HUT, by: place }]]);
    const by = ended?.get(keyOf(1));
    if (by?.kind !== 'ended') throw new Error('it did not end');
    const { position } = by.by;
    // The run has the line already, whatever happens to the one in the store.
    await database.query('delete from mlld.events where run_id = (select run_id from mlld.runs where run = $1) and seq = 2', [place.run]);
    expect(await store.readAt({ workflow, run: place.run }, position)).toMatchObject({ type: 'call.completed', key: keyOf(1) });
    run.offers?.withdraw(keyOf(1));
    await expect.poll(() => run.offers?.collect()).toEqual(new Map());
    expect((await run.offers?.collectAll())?.count).toBe(2);
  });

  it('are collected again until they are withdrawn, because a call may end before its run has heard that it is offered', async () => {
    const { run, served, take } = await offering(2);
    for (const { key } of (await take(2)).taken) served.hold(key);
    await execute(served, 1);
    for (let look = 0; look < 2; look++) expect([...((await run.offers?.collect())?.keys() ?? [])]).toEqual([keyOf(1)]);
    run.offers?.withdraw(keyOf(1));
    await execute(served, 2);
    expect([...((await run.offers?.collect())?.keys() ?? [])]).toEqual([keyOf(2)]);
  });

  it('are collected wherever their results are in a long journal, a part at each look', async () => {
    const { run, served } = await offering(1);
    const count = 450;
    for (let n = 2; n <= count; n++) void run.offers?.offer({ key: keyOf(n), lane: '', call: '{}' });
    await expect.poll(async () => (await outcomesOf(run))?.count).toBe(count);
    await Promise.all(Array.from({ length: count }, (_, n) => execute(served, n + 1)));
    const found = new Set<CallKey>();
    const looks: number[] = [];
    for (let size = -1; size !== found.size;) {
      size = found.size;
      const ended = (await run.offers?.collect()) ?? new Map();
      looks.push(ended.size);
      for (const key of ended.keys()) run.offers?.withdraw(found.add(key) && key);
    }
    expect(found.size).toBe(count);
    expect(Math.max(...looks)).toBeLessThanOrEqual(200);
  });

  it('are collected from other runs of the workflow that are open, and not where those had refused results', async () => {
    const { run, store } = await offering(3);
    const other = await store.create(runRef(2));
    await other.append(started);
    for (const fact of [callStarted(3), callCompleted(3, 'earlier')]) await other.append(fact);
    expect(await run.offers?.collect()).toEqual(new Map()); // the journal was seen for the first time
    for (const fact of [callStarted(1), callCompleted(1, 'theirs')]) await other.append(fact);
    expect([...((await run.offers?.collect()) ?? [])]).toMatchObject([
      [keyOf(1), { kind: 'ended', worker: undefined, by: { run: runRef(2).run, seq: 4 } }],
    ]);
    expect([...((await outcomesOf(run))?.outcomes.keys() ?? [])].sort()).toEqual([keyOf(1), keyOf(3)].sort());
  });

  it('are found by a look at all of them, where a result is in the journal of a run that is over', async () => {
    const { run, store, take } = await offering(1);
    const other = await store.create(runRef(2));
    for (const fact of [started, callStarted(1), callCompleted(1, 'theirs'), finished]) await other.append(fact);
    await other.close();
    expect(await run.offers?.collect()).toEqual(new Map());
    expect([...((await run.offers?.collectAll())?.outcomes.values() ?? [])]).toMatchObject([{ kind: 'answered', worker: undefined }]);
    expect((await take()).taken).toEqual([]);
  });

  it('are withdrawn without a wait for the disk of the server', async () => {
    const { run } = await offering(1);
    await database.query(`create table public.withdrawn (committed text);
      create function public.note() returns trigger language plpgsql as
        $$ begin insert into public.withdrawn values (current_setting('synchronous_commit')); return null; end $$;
      create trigger note after delete on mlld.offers for each statement execute function public.note()`);
    run.offers?.withdraw(keyOf(1));
    await vi.waitFor(async () => expect((await outcomesOf(run))?.count).toBe(0));
    expect(await database.query('select distinct committed from public.withdrawn')).toEqual([{ committed: 'off' }]);
    await database.query('drop trigger note on mlld.offers; drop function public.note; drop table public.withdrawn');
  });

  it('are not taken back once they have a result, which the run has not collected yet', async () => {
    const { run, served, take } = await offering(2);
    const [offer] = (await take()).taken;
    if (!offer) throw new Error('nothing was taken');
    served.hold(offer.key);
    await execute(served, 1);
    expect(await run.offers?.takeBack([keyOf(1), keyOf(2)])).toEqual([keyOf(2)]);
    expect([...((await run.offers?.collect())?.keys() ?? [])]).toEqual([keyOf(1)]);
  });

  it('are made together, each once, and those with a result are answered with it', async () => {
    const { run, served, take } = await offering(1);
    for (const { key } of (await take()).taken) served.hold(key);
    await execute(served, 1);
    const offer = (n: number, call = `{"n":${n}}`) => run.offers?.offer({ key: keyOf(n), lane: '', call });
    const answers = await Promise.all([offer(1), offer(3, '{"first":3}'), offer(2), offer(3)]); // one statement
    expect(answers).toEqual([expect.objectContaining({ kind: 'answered', worker: AT_HUT }), undefined, undefined, undefined]);
    expect((await take(4)).taken.map(({ call }) => call)).toEqual(['{"n":2}', '{"n":3}']);
  });

  it('are answered at once by a result that was not refused', async () => {
    const { store, run } = await offering(1);
    const second = await store.create(runRef(2));
    for (const fact of [started, callStarted(5), callCompleted(5, 'there')]) await second.append(fact);
    const known = await run.offers?.offer({ key: keyOf(5), lane: '', call: '{}' });
    expect(known).toMatchObject({ by: { run: runRef(2).run, seq: 2 }, worker: undefined });
    expect(await run.offers?.offer({ key: keyOf(5), lane: '', call: '{}', refused: known?.by })).toBeUndefined();
  });

  it('are answered at once with the name of the worker that had executed the call for the run', async () => {
    const { run, served, take } = await offering(1);
    await take();
    served.hold(keyOf(1));
    run.offers?.withdraw(keyOf(1)); // the run has a slot for it
    await execute(served, 1);
    const known = await run.offers?.offer({ key: keyOf(1), lane: '', call: '{}' });
    expect(known).toMatchObject({ by: { run: served.journal.ref.run, seq: 2 }, worker: AT_HUT });
  });
});
