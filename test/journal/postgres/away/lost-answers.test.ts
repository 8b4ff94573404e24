/** Connections that break before and behind a commit. team-store.md 4.3. */
import { describe, expect, it } from 'vitest';
import type { Connect } from '../../../../journal/postgres/connection.js';
import { connectClient } from '../../../../journal/postgres/pg-client.js';
import { parseStoreAddress } from '../../../../journal/postgres/store-address.js';
import { callCompleted, callStarted, finished, runRef, started } from '../../support/facts.js';
import { factOf, readRun } from '../../support/read.js';
import { Line } from './breakable-line.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';

type Trouble = 'none' | 'before' | 'behind';

/** Breaks the connection at each append by `troubles`: before the statement is sent, or when it is done and its answer not there yet. */
function breaking(url: string, troubles: Trouble[]): Connect {
  const address = parseStoreAddress(url, { environment: {} });
  return async (onLost) => {
    const client = await connectClient(address, { connectMs: 5000, onLost });
    return {
      ...client,
      async query(text, values, timeoutMs) {
        if (!text.includes('mlld.append')) return client.query(text, values, timeoutMs);
        const trouble = troubles.shift() ?? 'none';
        if (trouble !== 'before') await client.query(text, values, timeoutMs);
        if (trouble === 'none') return [];
        await client.end();
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
      },
    };
  };
}

describe.skipIf(noServer !== undefined)(`a connection that breaks${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);

  it('is opened again where the server was away when all of them were to be opened', async () => {
    const url = database.project();
    const line = new Line(url);
    let opened = 0;
    const store = openTestStore(url, {
      connect: (onLost) => {
        opened++;
        return line.connect(onLost);
      },
    });
    line.isCut = true;
    store.openConnections();
    expect(opened).toBe(2);
    await new Promise((resolve) => setImmediate(resolve));
    line.isCut = false;
    const journal = await store.create(runRef(1));
    await journal.append(started);
    await journal.append(finished);
    await journal.close();
    await store.close();
    expect((await readRun(openTestStore(url), runRef(1))).events).toHaveLength(2);
  });

  it('records each fact once, whether an answer or a statement was lost', async () => {
    const url = database.project();
    const troubles: Trouble[] = ['none', 'behind', 'before', 'none', 'behind', 'behind', 'before', 'before', 'none', 'behind'];
    const store = openTestStore(url, { connect: breaking(url, troubles) });
    const journal = await store.create(runRef(1));
    const facts = [started];
    await journal.append(started);
    for (let n = 0; n < 12; n++) {
      facts.push(callStarted(n), callCompleted(n));
      journal.post(callStarted(n));
      await journal.append(callCompleted(n));
    }
    await journal.append(finished);
    await journal.close();
    expect(troubles).toEqual([]);
    const { events, defects } = await readRun(store, runRef(1));
    expect(defects).toEqual([]);
    expect(events.map(factOf)).toEqual([...facts, finished]);
    await store.close();
  });

  it('appends nothing to a run that was sealed', async () => {
    const url = database.project();
    const store = openTestStore(url);
    const journal = await store.create(runRef(1));
    await journal.append(started);
    await database.query('update mlld.runs set fence = fence + 1 where not finished', []);
    await expect(journal.append(callStarted(1))).rejects.toMatchObject({ code: 'STORE_SEALED' });
    await expect(journal.close()).rejects.toMatchObject({ code: 'STORE_SEALED' });
    expect((await readRun(store, runRef(1))).events.map(factOf)).toEqual([started]);
    await store.close();
  });

  it('says that the database went back in time', async () => {
    const url = database.project();
    const store = openTestStore(url);
    const journal = await store.create(runRef(1));
    await journal.append(started);
    const [before] = await database.query('select run_id, next_seq, bytes, hash from mlld.runs order by run_id desc limit 1', []);
    await journal.append(callStarted(1));
    await database.query('update mlld.runs set next_seq = $2, bytes = $3, hash = $4 where run_id = $1', Object.values(before ?? {}));
    await database.query('delete from mlld.events where run_id = $1 and at >= $2', [before?.['run_id'], before?.['bytes']]);
    await expect(journal.append(callCompleted(1))).rejects.toMatchObject({ code: 'STORE_WENT_BACK' });
    await journal.close().catch(() => undefined);
    await store.close();
  });

  it('gives up after the time that it may wait, and says who could not be reached', async () => {
    const url = database.project();
    const address = parseStoreAddress(url, { environment: {} });
    let isAway = false;
    const clients: { end(): Promise<void> }[] = [];
    const store = openTestStore(url, {
      async connect(onLost) {
        if (isAway) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
        const client = await connectClient(address, { connectMs: 5000, onLost });
        clients.push(client);
        return client;
      },
      waitMs: 100,
    });
    const journal = await store.create(runRef(1));
    await journal.append(started);
    isAway = true;
    await Promise.all(clients.map((client) => client.end()));
    await expect(journal.append(callStarted(1))).rejects.toMatchObject({
      code: 'STORE_UNREACHABLE',
      message: expect.stringContaining(address.shown),
    });
    isAway = false;
    await journal.close();
    expect((await readRun(store, runRef(1))).events.map(factOf)).toEqual([started, callStarted(1)]);
    await store.close();
  });

  it.each([
    [
      'a line that was changed',
      `update mlld.events set line = replace(line, 'main/show', 'main/shoo') where run_id = $1 and seq = 1`,
      [0, 2, 3],
    ],
    ['a line that is missing', 'delete from mlld.events where run_id = $1 and seq = 1', [0, 3]],
    ['a last line that is missing', 'delete from mlld.events where run_id = $1 and seq = 3', [0, 1, 2]],
  ])('reports %s', async (_title, damage, left) => {
    const url = database.project();
    const store = openTestStore(url);
    const journal = await store.create(runRef(1));
    for (const fact of [started, { type: 'op.started', op: 'main/show#0', kind: 'show' } as never, callStarted(1), finished])
      await journal.append(fact);
    await journal.close();
    const [run] = await database.query('select run_id from mlld.runs order by run_id desc limit 1', []);
    await database.query(damage, [run?.['run_id']]);
    const { events, defects } = await readRun(store, runRef(1));
    expect(events.map(({ seq }) => seq)).toEqual(left);
    expect(defects).toMatchObject([{ kind: 'corrupt' }]);
    await store.close();
  });
});
