/** One execution of a call at a time, and one result, on a server; also where lines reach it late. team-store.md 4.2, 4.4. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../../../journal/canonical.js';
import type { FactOf } from '../../../../journal/event.js';
import type { TeamStore } from '../../../../journal/postgres/open-store.js';
import { realDisk } from '../../../../journal/storage/disk.js';
import { callCompleted, callStarted, finished, opStarted, runRef, started } from '../../support/facts.js';
import { temporaryFolder } from '../../support/folder.js';
import { factOf, readRun } from '../../support/read.js';
import { Line } from '../away/breakable-line.js';
import { claimsContract } from './claims-contract.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';

describe.skipIf(noServer !== undefined)(`on a server${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const opened: TeamStore[] = [];
  const kept = (store: TeamStore): TeamStore => {
    opened.push(store);
    return store;
  };
  afterAll(() => Promise.all(opened.map((store) => store.close())));

  claimsContract('PostgreSQL', {
    project() {
      const url = database.project();
      return () => kept(openTestStore(url));
    },
    query: (text) => database.query(text, []),
  });

  it('keeps a call for the run that claims it again before the server has the failure of the last one', async () => {
    const store = kept(openTestStore(database.project(), { spill: { disk: realDisk, folder: temporaryFolder() } }));
    const [first, second] = [await store.create(runRef(1)), await store.create(runRef(2))];
    for (const run of [first, second]) await run.append(started);
    const { key, op } = callStarted(1) as FactOf<'call.started'>;
    const claim = (run: typeof first) => run.claims?.claim({ key });
    expect(await claim(first)).toMatchObject({ kind: 'claimed' });
    await first.append(callStarted(1));
    await database.query('begin');
    await database.query('select from mlld.runs where run = $1 for no key update', [runRef(1).run]); // appends wait
    await first.append({ type: 'call.failed', key, op, message: 'no', elapsedMs: 1 }); // is durable in the spill
    const again = claim(first);
    await sleep(200);
    await database.query('commit');
    expect(await again).toMatchObject({ kind: 'claimed' });
    await first.append(callStarted(1));
    expect(await claim(second)).toMatchObject({ kind: 'taken', run: runRef(1).run });
    for (const run of [first, second]) await run.close();
  });

  it('finds each of several results of a turn by its place', async () => {
    const store = kept(openTestStore(database.project()));
    const journal = await store.create(runRef(30));
    await journal.append(started);
    const calls = Array.from({ length: 30 }, (_, n) => n + 1);
    await Promise.all(calls.map((n) => journal.append(callStarted(n))));
    await Promise.all(calls.flatMap((n) => [journal.append(opStarted(n)), journal.append(callCompleted(n))]));
    await journal.close();
    const rows = await database.query(
      `select a.key, a.seq = e.seq and a.bytes = octet_length(e.line) as fits, e.line from mlld.answers a join mlld.events e using (run_id, at)
       join mlld.runs r using (run_id) join mlld.workflows w on w.workflow_id = r.workflow_id where r.run = $1 order by a.seq`,
      [runRef(30).run],
    );
    const mine = rows.filter(({ line }) => String(line).includes('"type":"call.completed"'));
    expect(mine.filter(({ fits, key, line }) => fits === true && String(line).includes(String(key)))).toHaveLength(calls.length);
  });

  const superseded = { type: 'call.superseded', of: 2, by: { run: runRef(2).run, seq: 2 } };

  /** Another run has its result before the spilled one of the first is recorded. */
  async function winElsewhere(url: string): Promise<TeamStore> {
    const store = kept(openTestStore(url));
    const journal = await store.create(runRef(2));
    for (const fact of [started, callStarted(1), callCompleted(1, 'first'), finished]) await journal.append(fact);
    await journal.close();
    return store;
  }

  it('says before the end of a run that a result came too late, when all of it reached the server late', async () => {
    const url = database.project();
    const line = new Line(url);
    const folder = temporaryFolder();
    const store = kept(openTestStore(url, { connect: line.connect, spill: { disk: realDisk, folder } }));
    const journal = await store.create(runRef(1));
    await journal.append(started);
    await journal.append(callStarted(1));
    await line.cut();
    const completing = journal.append(callCompleted(1, 'late'));
    await journal.append(finished);
    const other = await winElsewhere(url);
    line.isCut = false;
    await journal.close();
    expect((await completing).supersededBy).toMatchObject(superseded.by);
    const { events, defects } = await readRun(other, runRef(1));
    expect(defects).toEqual([]);
    expect(events.map(factOf)).toMatchObject([started, callStarted(1), callCompleted(1, 'late'), superseded, finished]);
    expect((await other.runs(runRef(1).workflow))[0]).toMatchObject({ liveness: 'finished' });
  });

  it('begins no call once the server refuses to renew the lease, and records what those in flight return', async () => {
    const url = database.project();
    const line = new Line(url);
    const store = kept(openTestStore(url, { connect: line.connect, leaseMs: 1000 }));
    const journal = await store.create(runRef(1));
    await journal.append(started);
    await journal.append(callStarted(1));
    line.before = async (text) => {
      if (text.includes('set lease_until = clock_timestamp()')) throw Object.assign(new Error('permission denied'), { code: '42501' });
    };
    const claim = () =>
      journal.claims?.claim({ key: sha256('another call') }).then(
        () => 'claimed',
        ({ code }: { readonly code: string }) => code,
      );
    await expect.poll(claim, { timeout: 60_000 }).toBe('STORE_DENIED');
    await expect(journal.append(callStarted(2))).rejects.toMatchObject({ code: 'STORE_DENIED' });
    await journal.append(callCompleted(1));
    await journal.close();
    expect((await readRun(store, runRef(1))).events.map(factOf)).toEqual([started, callStarted(1), callCompleted(1)]);
  });

  /** A run whose way to the server was cut for longer than its lease, behind the start of a call. */
  async function cutBeyondLease() {
    const url = database.project();
    const line = new Line(url);
    const store = kept(openTestStore(url, { connect: line.connect, leaseMs: 1000 }));
    const journal = await store.create(runRef(1));
    const key = (callStarted(1) as FactOf<'call.started'>).key;
    const { claims } = journal;
    if (claims === undefined) throw new Error('the store has no claims');
    await journal.append(started);
    await claims.claim({ key });
    let statements = 0;
    line.before = async (text) => void (statements += text.includes('mlld.claim') ? 1 : 0);
    await journal.append(callStarted(1));
    expect({ mayBeLost: claims.mayBeLost(key), statements }).toEqual({ mayBeLost: false, statements: 0 });
    await line.cut();
    await expect.poll(() => claims.mayBeLost(key), { timeout: 10_000 }).toBe(true);
    const other = await kept(openTestStore(url)).create(runRef(2));
    await other.append(started);
    const isFree = async (): Promise<boolean> =>
      (await database.query(`select from mlld.runs where run = $1 and not mlld.is_alive(lease_until, lease_s)`, [runRef(1).run])).length >
      0;
    await expect.poll(isFree, { timeout: 10_000 }).toBe(true);
    return { journal, claims, key, other, mend: () => void (line.isCut = false) };
  }

  it('knows that a claim may be lost where the lease of its run may have run out, and claims it again together with the lease', async () => {
    const { journal, claims, key, other, mend } = await cutBeyondLease();
    mend();
    await expect.poll(() => claims.claimAgain({ key }).catch(() => 'away'), { timeout: 10_000 }).toMatchObject({ kind: 'claimed' });
    expect(claims.mayBeLost(key)).toBe(false);
    expect((await other.claims?.claim({ key }))?.kind).toBe('taken'); // the lease holds again
    await Promise.all([journal.close(), other.close()]);
  });

  it('keeps a claim unsure when the lease was renewed too late, and finds it with another run', async () => {
    const { journal, claims, key, other, mend } = await cutBeyondLease();
    expect((await other.claims?.claim({ key }))?.kind).toBe('claimed');
    mend();
    await journal.append(callStarted(2)); // renews the lease
    expect(claims.mayBeLost(key)).toBe(true);
    expect(await claims.claimAgain({ key })).toMatchObject({ kind: 'taken', run: runRef(2).run });
    await other.append(callStarted(1));
    await other.append(callCompleted(1));
    expect(await claims.claimAgain({ key })).toMatchObject({ kind: 'answered', by: { run: runRef(2).run } });
    await Promise.all([journal.close(), other.close()]);
  });

  it('claims nothing again in a run that was sealed', async () => {
    const { journal, claims, key, other, mend } = await cutBeyondLease();
    await database.query('update mlld.runs set fence = fence + 1 where run = $1', [runRef(1).run]);
    mend();
    const code = () =>
      claims.claimAgain({ key }).then(
        () => 'claimed',
        (error: { readonly code: string }) => error.code,
      );
    await expect.poll(code, { timeout: 10_000 }).toBe('STORE_SEALED');
    await expect(journal.append(callStarted(2))).rejects.toMatchObject({ code: 'STORE_SEALED' });
    await journal.close().catch(() => undefined);
    await other.close();
  });

  it('says it in the run when a later process brings the result in', async () => {
    const url = database.project();
    const line = new Line(url);
    const folder = temporaryFolder();
    const spill = { disk: realDisk, folder };
    const store = openTestStore(url, { connect: line.connect, spill, waitMs: 50 });
    const journal = await store.create(runRef(1));
    await journal.append(started);
    await journal.append(callStarted(1));
    await line.cut();
    await journal.append(callCompleted(1, 'late'));
    await expect(journal.close()).rejects.toMatchObject({ code: 'STORE_SPILLED' });
    for (const name of await readdir(folder, { recursive: true })) {
      if (!name.endsWith('.ndjson')) continue;
      const text = await readFile(join(folder, name), 'utf8');
      await writeFile(join(folder, name), text.replace(/"boot":"[^"]*"/, '"boot":"another one"'));
    }
    await store.close();
    const other = await winElsewhere(url);
    const pushing = kept(openTestStore(url, { spill }));
    expect(await pushing.pushSpills()).toMatchObject([{ ref: runRef(1), salvaged: 0 }]);
    const { events, defects } = await readRun(other, runRef(1));
    expect(defects).toEqual([]);
    expect(events.map(factOf)).toMatchObject([started, callStarted(1), callCompleted(1, 'late'), superseded]);
  });
});
