/** Statements that a run sends over and over have names where that is safe: where the connection leads to one process. team-store.md 13. */
import { connect, createServer, type AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import type { SqlClient } from '../../../journal/postgres/connection.js';
import { connectClient } from '../../../journal/postgres/pg-client.js';
import { parseStoreAddress } from '../../../journal/postgres/store-address.js';
import { makeDatabase, noServer, type TestDatabase } from './database.js';

const APPEND = 'select where mlld.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) is null';
const OF_NO_RUN = [0, 0, 0, '', 'line', [0], 4, '', false, [], null, []];
/** The message of the server that says which process it is: its type, and its length. */
const KEY_DATA = Buffer.from([0x4b, 0, 0, 0, 12]);

describe.skipIf(noServer !== undefined)(`names of statements${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const closing: (() => Promise<void>)[] = [];
  afterAll(() => Promise.all(closing.map((close) => close())));

  async function open(url: string): Promise<SqlClient> {
    const client = await connectClient(parseStoreAddress(url, { environment: {} }), { connectMs: 5000, onLost: () => undefined });
    closing.push(() => client.end());
    return client;
  }

  /** As PgBouncer does, says that the server is another process than it is. */
  async function behindPool(url: string): Promise<string> {
    const { hostname, port } = new URL(url);
    const pool = createServer((client) => {
      const upstream = connect(Number(port || 5432), hostname);
      client.pipe(upstream);
      upstream.on('data', (chunk) => {
        const at = chunk.indexOf(KEY_DATA);
        if (at >= 0) chunk.writeInt32BE(chunk.readInt32BE(at + KEY_DATA.length) ^ 0x1234567, at + KEY_DATA.length);
        client.write(chunk);
      });
      for (const socket of [client, upstream])
        socket.on('error', () => undefined).on('close', () => void (client.destroy(), upstream.destroy()));
    });
    await new Promise<void>((resolve) => pool.listen(0, '127.0.0.1', resolve));
    pool.unref();
    const server = new URL(url);
    server.host = `127.0.0.1:${(pool.address() as AddressInfo).port}`;
    return server.href;
  }

  const append = (client: SqlClient): Promise<string | undefined> =>
    client.query(APPEND, OF_NO_RUN).then(
      () => undefined,
      (error: { readonly code?: string }) => error.code,
    );
  const names = async (client: SqlClient): Promise<readonly unknown[]> =>
    (await client.query('select name from pg_prepared_statements')).map(({ name }) => name);

  it('gives one to an append on a connection of its own', async () => {
    const client = await open(database.project());
    await client.query('select $1::int', [1]);
    expect([await append(client), await append(client)]).toEqual(['ML001', 'ML001']);
    expect(await names(client)).toEqual(['append']);
  });

  it('gives none behind a pool', async () => {
    const client = await open(await behindPool(database.project()));
    await client.query('select $1::int', [1]);
    expect(await append(client)).toBe('ML001');
    expect(await names(client)).toEqual([]);
  });

  it.each([
    ['has forgotten', ['append'], 'deallocate all'],
    ['has for another statement', [], 'prepare append as select 1'],
  ])('sends a statement without its name where the server %s it', async (_, before, change) => {
    const client = await open(database.project());
    await client.query('select $1::int', [1]);
    for (const _name of before) await append(client);
    expect(await names(client)).toEqual(before);
    await client.query(change);
    expect([await append(client), await append(client)]).toEqual(['ML001', 'ML001']);
    expect(await names(client)).toEqual(change.startsWith('prepare') ? ['append'] : []);
  });
});
