/** Statements that can be sent together are, so a run over a store at a distance waits for few round trips. team-store.md 5 and 17. */
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../../journal/canonical.js';
import type { TeamStore } from '../../../../journal/postgres/open-store.js';
import type { Position } from '../../../../journal/store.js';
import { loadWorkflow } from '../../../../replay/memo/load.js';
import { usableEntry } from '../../../../replay/memo/memo.js';
import { callCompleted, callStarted, finished, runRef, started, workflow } from '../../support/facts.js';
import { readRun } from '../../support/read.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';
import { HeldAnswers } from './held-answers.js';

const CALLS = 3000;

describe.skipIf(noServer !== undefined)(`round trips${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);

  async function record(url: string): Promise<void> {
    const store = openTestStore(url);
    const journal = await store.create(runRef(1));
    await journal.append(started);
    for (let n = 0; n < CALLS; n++) {
      journal.post(callStarted(n));
      journal.post(callCompleted(n, `answer ${'x'.repeat(500)} ${n}`));
    }
    await journal.append(finished);
    await journal.close();
    await loadWorkflow(store, workflow, { onDefect: () => undefined }); // makes the index
    await store.close();
  }

  function openHeld(url: string): { readonly store: TeamStore; readonly line: HeldAnswers } {
    const line = new HeldAnswers(url);
    return { store: openTestStore(url, { connect: line.connect }), line };
  }

  it('of a start are one: the look at the server, the runs and the index', async () => {
    const url = database.project();
    await record(url);
    const { store, line } = openHeld(url);
    expect(await line.roundTrips(() => loadWorkflow(store, workflow, { onDefect: () => undefined }))).toBe(1);
    await store.close();
  });

  it('of a start are two where many short runs lie behind the index', async () => {
    const url = database.project();
    await record(url);
    const own = openTestStore(url);
    for (let n = 2; n <= 30; n++) {
      const journal = await own.create(runRef(n));
      for (const fact of [started, callStarted(CALLS + n), callCompleted(CALLS + n), finished]) await journal.append(fact);
      await journal.close();
    }
    await own.close();
    const { store, line } = openHeld(url);
    let calls = 0;
    const load = async (): Promise<void> => {
      const { memo } = await loadWorkflow(store, workflow, { onDefect: ({ message }) => expect.unreachable(message) });
      for (let n = 2; n <= 30; n++) if (usableEntry(memo, sha256(`key ${CALLS + n}`)) !== undefined) calls++;
    };
    expect(await line.roundTrips(load)).toBe(2);
    expect(calls).toBe(29);
    await store.close();
  });

  it('of reading a long run are two: its length, and all that is behind the first range of it', async () => {
    const url = database.project();
    const own = openTestStore(url);
    const journal = await own.create(runRef(1));
    await journal.append(started);
    for (let n = 0; n < 24_000; n++) journal.post(callStarted(n));
    await journal.append(finished);
    await own.close();
    const { store, line } = openHeld(url);
    let events = 0;
    const scan = (): Promise<unknown> =>
      store.scan(runRef(1), () => void events++, { onDefect: ({ message }) => expect.unreachable(message) });
    expect(await line.roundTrips(scan)).toBe(2);
    expect(events).toBe(24_002);
    await store.close();
  });

  it('of results that are read in order are few, however many there are', async () => {
    const url = database.project();
    await record(url);
    const own = openTestStore(url);
    const { events, positions } = await readRun(own, runRef(1));
    await own.close();
    const results = events.flatMap((event, n) => (event.type === 'call.completed' ? [positions[n] as Position] : []));
    const { store, line } = openHeld(url);
    const trips = await line.roundTrips(async () => {
      for (const position of results) expect(await store.readAt(runRef(1), position)).toBeDefined();
    });
    expect(trips).toBeLessThanOrEqual(4);
    await store.close();
  });

  it('of the end of a run are one: its last lines, and what it gives back', async () => {
    const url = database.project();
    const { store, line } = openHeld(url);
    let journal: Awaited<ReturnType<TeamStore['create']>> | undefined;
    await line.roundTrips(async () => {
      journal = await store.create(runRef(1));
      await journal.append(started);
      await journal.claims?.claim({ key: 'sha256:held' as never });
    });
    const trips = await line.roundTrips(async () => {
      await journal?.append(finished);
      await journal?.close();
    });
    expect(trips).toBe(1);
    const left = `select r.lease_until = '-infinity' as released, (select count(*)::int from mlld.claims c where c.run_id = r.run_id) as claims
      from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id) where p.name = $1`;
    expect(await database.query(left, [new URL(url).searchParams.get('project')])).toEqual([{ released: true, claims: 0 }]);
    await store.close();
  });

  it('of a small blob are one, whether it is there or not', async () => {
    const url = database.project();
    const { store, line } = openHeld(url);
    await line.roundTrips(() => store.putBlob('opens the connection'));
    for (const text of ['a source', 'a source']) {
      expect(await line.roundTrips(() => store.putBlob(text))).toBe(1);
    }
    await store.close();
  });

  it('of reading a blob are one, and a second one where it has several parts', async () => {
    const url = database.project();
    const own = openTestStore(url);
    const { store, line } = openHeld(url);
    for (const [text, trips] of [
      ['opens the connection', 1],
      ['a source', 1],
      ['', 1],
      ['x'.repeat(3_000_000), 2],
    ] as const) {
      const { blob } = await own.putBlob(text);
      let read: Uint8Array | undefined;
      expect(await line.roundTrips(async () => (read = await store.getBlob(blob)))).toBe(trips);
      expect(Buffer.from(read ?? [1]).toString() === text).toBe(true);
    }
    await own.close();
    await store.close();
  });

  it('of an index are one, which replaces that of nobody else', async () => {
    const url = database.project();
    const { store, line } = openHeld(url);
    await line.roundTrips(() => store.putBlob('opens the connection'));
    expect(await line.roundTrips(() => store.replaceDerived(workflow, 'index', 'one\n', undefined))).toBe(1);
    expect(await line.roundTrips(async () => expect(await store.replaceDerived(workflow, 'index', 'two\n', 'one\n')).toBe(true))).toBe(1);
    await store.close();
  });
});
