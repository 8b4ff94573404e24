/** Results that are read one after the other cost few round trips, and are the same in any order. team-store.md 5. */
import { describe, expect, it } from 'vitest';
import type { Connect } from '../../../../journal/postgres/connection.js';
import { connectClient } from '../../../../journal/postgres/pg-client.js';
import { parseStoreAddress } from '../../../../journal/postgres/store-address.js';
import type { Position } from '../../../../journal/store.js';
import { callCompleted, callStarted, finished, runRef, started } from '../../support/facts.js';
import { readRun } from '../../support/read.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';

const CALLS = 600;

describe.skipIf(noServer !== undefined)(`reading results ahead${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);

  async function recorded() {
    const url = database.project();
    const address = parseStoreAddress(url, { environment: {} });
    let statements = 0;
    const connect: Connect = async (onLost) => {
      const client = await connectClient(address, { connectMs: 5000, onLost });
      return {
        ...client,
        query: (...statement) => {
          statements++;
          return client.query(...statement);
        },
      };
    };
    const store = openTestStore(url, { connect });
    const journal = await store.create(runRef(1));
    await journal.append(started);
    for (let n = 0; n < CALLS; n++) {
      journal.post(callStarted(n));
      journal.post(callCompleted(n, n % 100 === 99 ? 'x'.repeat(100_000) : `${'naïve '.repeat(150)}${n}`));
    }
    await journal.append(finished);
    await journal.close();
    const { events, positions } = await readRun(store, runRef(1));
    const results = events.flatMap((event, n) => (event.type === 'call.completed' ? [{ event, position: positions[n] as Position }] : []));
    return { store, results, all: events.map((event, n) => ({ event, position: positions[n] as Position })), count: () => statements };
  }

  it('takes a small part of the round trips, and gives each one as it was recorded', async () => {
    const { store, results, count } = await recorded();
    const before = count();
    for (const { event, position } of results) expect(await store.readAt(runRef(1), position)).toEqual(event);
    expect(count() - before).toBeLessThan(CALLS / 10);
    await store.close();
  });

  it.each([
    ['backwards', (n: number, count: number) => count - 1 - n],
    ['in no order', (n: number, count: number) => (n * 7919) % count],
  ])('gives them and other events also %s', async (_title, at) => {
    const { store, all } = await recorded();
    const order = all.map((_, n) => all[at(n, all.length)]!);
    const read = await Promise.all(order.map(({ position }) => store.readAt(runRef(1), position)));
    expect(read).toEqual(order.map(({ event }) => event));
    await store.close();
  });

  it('gives nothing for a result whose line, or the one before it, has changed', async () => {
    const { store, results } = await recorded();
    await database.query(
      `update mlld.events set line = replace(line, 'ï', 'ö') where seq in (20, 40) and run_id = (select max(run_id) from mlld.runs)`,
      [],
    );
    await database.query(
      `update mlld.events set line = left(line, -3) || case when right(line, 3) = 'f"}' then '0"}' else 'f"}' end where seq = 59
         and run_id = (select max(run_id) from mlld.runs)`,
      [],
    );
    const missing = [];
    for (const { event, position } of results) if ((await store.readAt(runRef(1), position)) === undefined) missing.push(event.seq);
    expect(missing).toEqual([20, 40, 60]);
    await store.close();
  });
});
