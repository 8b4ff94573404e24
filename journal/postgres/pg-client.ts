/** Opens one connection to a PostgreSQL server. The only file that knows of `pg`, which is loaded when the first one is opened. */
import { readFile } from 'node:fs/promises';
import type { ClientConfig, QueryConfig } from 'pg';
import { JournalError } from '../errors.js';
import type { SqlClient, Row } from './connection.js';
import type { StoreAddress } from './store-address.js';

/** A connection that is closed waits so long for statements under way, and for the server. */
const END_MS = 5000;

export interface ClientSettings {
  readonly connectMs: number;
  /** Called once when the connection is lost, whether a statement is under way or not. */
  readonly onLost: () => void;
}

/** Members of a client that its types leave out. */
interface Socket {
  readonly connection: { readonly stream: { destroy(): void } };
  ref(): void;
  unref(): void;
}

/** Rejects with what the server or the system said. The connection keeps the process alive only while a statement is under way. */
export async function connectClient(address: StoreAddress, { connectMs, onLost }: ClientSettings): Promise<SqlClient> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ ...(await configOf(address)), connectionTimeoutMillis: connectMs });
  client.on('error', onLost); // without a listener, a lost connection would end the process
  client.on('end', onLost);
  await client.connect();
  const socket = client as unknown as Socket;
  const { connection } = socket;
  let statements = 0;
  return {
    async query(text, values, timeoutMs) {
      const statement = { text, values: values as unknown[] | undefined, query_timeout: timeoutMs };
      if (statements++ === 0) socket.ref();
      try {
        return (await client.query<Row>(statement as QueryConfig)).rows;
      } finally {
        if (--statements === 0) socket.unref();
      }
    },
    onNotification(listener) {
      client.on('notification', ({ channel, payload = '' }) => listener(channel, payload));
    },
    async end() {
      socket.ref();
      const giveUp = setTimeout(() => connection.stream.destroy(), END_MS); // a server that is gone does not say goodbye
      await client.end().finally(() => clearTimeout(giveUp));
    },
  };
}

async function configOf({ host, port, database, user, password, tls, certificates }: StoreAddress): Promise<ClientConfig> {
  return {
    host,
    port,
    database,
    user,
    password,
    ssl: tls === 'off' ? false : { rejectUnauthorized: tls === 'verified', ...(await authority(certificates)) },
    application_name: 'mlld',
    keepAlive: true,
    pipeline: true,
  };
}

async function authority(file: string | undefined): Promise<{ readonly ca?: string }> {
  if (file === undefined) return {};
  try {
    return { ca: await readFile(file, 'utf8') };
  } catch (cause) {
    throw new JournalError('STORE_TLS', `the file of certificates can't be read: ${(cause as Error).message}`, {
      hint: 'sslrootcert= or PGSSLROOTCERT names it',
      cause,
    });
  }
}
