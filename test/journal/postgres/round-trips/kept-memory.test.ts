/** A process of the server keeps the memory that statements of a store free, so that an append does not ask the system for it again. */
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import type { SqlClient } from '../../../../journal/postgres/connection.js';
import { connectClient } from '../../../../journal/postgres/pg-client.js';
import { parseStoreAddress } from '../../../../journal/postgres/store-address.js';
import { runRef } from '../../support/facts.js';
import { makeDatabase, noServer, openTestStore, type TestDatabase } from '../database.js';

const STATEMENTS = 50;
/** Each piece is small enough to be in the heap, whose end a C library trims when it is free. */
const TWO_PIECES = `select octet_length(repeat('a', 100000)) + octet_length(repeat('b', 100000))`;

describe.skipIf(noServer !== undefined)(`memory of the server${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const closing: (() => Promise<void>)[] = [];
  afterAll(() => Promise.all(closing.map((close) => close())));

  /** Pages that the process of the server gets from the system for each statement; 0 where it runs on another machine. */
  async function pagesOf(client: SqlClient): Promise<number> {
    const [row] = await client.query('select pg_backend_pid() as pid');
    const pages = (): number => {
      try {
        return Number(
          readFileSync(`/proc/${String(row?.['pid'])}/stat`, 'latin1')
            .split(') ')[1]
            ?.split(' ')[7],
        );
      } catch {
        return 0;
      }
    };
    await client.query(TWO_PIECES);
    const before = pages();
    for (let n = 0; n < STATEMENTS; n++) await client.query(TWO_PIECES);
    return (pages() - before) / STATEMENTS;
  }

  it('is kept between the statements of a store', async ({ skip }) => {
    const url = database.project();
    const connect = (onLost: () => void) => connectClient(parseStoreAddress(url, { environment: {} }), { connectMs: 5000, onLost });
    const plain = await connect(() => undefined);
    closing.push(() => plain.end());
    skip((await pagesOf(plain)) < 10, 'the server is on another machine, or its C library keeps memory by itself');

    const ofStore: SqlClient[] = [];
    const store = openTestStore(url, {
      connect: async (onLost) => {
        const client = await connect(onLost);
        ofStore.push(client);
        return client;
      },
    });
    closing.push(() => store.close());
    await store.runs(runRef(1).workflow);
    expect(ofStore).not.toEqual([]);
    for (const client of ofStore) expect(await pagesOf(client)).toBeLessThan(2);
  });
});
