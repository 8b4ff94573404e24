/** Opens one connection to a PostgreSQL server. The only file that knows of `pg`, which is loaded when the first one is opened. */
import { readFile } from 'node:fs/promises';
import type { ClientConfig, Query, QueryConfig } from 'pg';
import { codeOf, JournalError } from '../errors.js';
import type { SqlClient, Row } from './connection.js';
import { passwordIn } from './login/password-file.js';
import type { StoreAddress } from './store-address.js';

/** A connection that is closed waits so long for statements under way, and for the server. */
const END_MS = 5000;
/**
 * Functions that a run calls over and over: the server parses and plans the statement once for a connection. Other statements may have a
 * better plan for some values than for others.
 */
const REPEATED = /\bmlld\.(append|claim|collect_ended|exchange|offer|reserve|take_offers|withdraw_offers)\(\$1/;
/** The server does not know the name of a statement, has another one of that name, or its result has changed: it did nothing. */
const NAME_REFUSED: ReadonlySet<string> = new Set(['26000', '42P05', '0A000']);

export interface ClientSettings {
  readonly connectMs: number;
  /** Called once when the connection is lost, whether a statement is under way or not. */
  readonly onLost: () => void;
}

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[] | undefined;
  readonly timeoutMs: number | undefined;
  readonly name?: string;
}

/** Members of a statement that its types leave out. */
interface Submitted extends Query<Row> {
  name: string | undefined;
  query_timeout: number | undefined;
  callback: (error: Error | null | undefined, result?: { readonly rows: readonly Row[] }) => void;
}

/** Members of a client that its types leave out. */
interface Socket {
  readonly connection: { readonly stream: { destroy(): void } };
  /** The process of the server that the connection began with. A pool says something else. */
  readonly processID: number | null;
  ref(): void;
  unref(): void;
}

/**
 * Rejects with what the server or the system said. The connection keeps the process alive only while a statement is under way. Statements
 * get names only where the connection leads to one process of the server, and not into a pool: team-store.md 13.
 */
export async function connectClient(address: StoreAddress, { connectMs, onLost }: ClientSettings): Promise<SqlClient> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ ...(await configOf(address)), connectionTimeoutMillis: connectMs });
  client.on('error', onLost); // without a listener, a lost connection would end the process
  client.on('end', onLost);
  await client.connect();
  const socket = client as unknown as Socket;
  const { connection } = socket;
  let statements = 0;
  let mayName = false;
  const asked = client.query<{ pid: number }>({
    text: 'select pg_catalog.pg_backend_pid() as pid',
    query_timeout: connectMs,
  } as QueryConfig);
  void asked.then(
    ({ rows }) => (mayName = rows[0]?.pid === socket.processID),
    () => undefined, // the first statement says what is wrong
  );
  const send = ({ text, values, timeoutMs, name }: Statement): Promise<readonly Row[]> =>
    new Promise((resolve, reject) => {
      // Handed over as an object of `pg`: it copies a plain one member by member, and captures the stack of each error.
      const query = new pg.Query<Row>(text, values as unknown[]) as Submitted;
      query.name = name;
      query.query_timeout = timeoutMs;
      query.callback = (error, result) => (error ? reject(error) : resolve(result?.rows ?? []));
      client.query(query);
    });
  return {
    async query(text, values, timeoutMs) {
      const statement = { text, values, timeoutMs };
      const name = mayName ? REPEATED.exec(text)?.[1] : undefined;
      if (statements++ === 0) socket.ref();
      try {
        if (name === undefined) return await send(statement);
        return await send({ text, values, timeoutMs, name }).catch((error: unknown) => {
          if (!NAME_REFUSED.has(codeOf(error) ?? '')) throw error;
          mayName = false;
          return send(statement);
        });
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

async function configOf(address: StoreAddress): Promise<ClientConfig> {
  const { host, port, database, user, tls, certificates } = address;
  return {
    host,
    port,
    database,
    user,
    password: address.password ?? ((login?: { readonly user?: string }) => fromFile(address, login?.user)),
    ssl: tls === 'off' ? false : { rejectUnauthorized: tls === 'verified', ...(await authority(certificates)) },
    application_name: 'mlld',
    keepAlive: true,
    pipeline: true,
  };
}

/**
 * Asked when the server wants a password. The client would look it up by itself, but takes the last line that fits, which may hold that of
 * another server, and writes a warning. `user` is the name that it has found for an address without one.
 */
async function fromFile({ host, port, database, passwordFile, shown }: StoreAddress, user = ''): Promise<string> {
  const password = passwordFile && (await passwordIn(passwordFile, { host, port, database, user }));
  if (password) return password;
  throw new JournalError('STORE_REFUSED', `the store ${shown} wants a password, and there is none`, {
    hint: `set PGPASSWORD, or add a line to ${passwordFile ?? '~/.pgpass'} (host:port:database:user:password)`,
  });
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
