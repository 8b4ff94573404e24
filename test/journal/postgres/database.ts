/**
 * Finds the PostgreSQL server of the tests: `MLLD_TEST_POSTGRES`, else 127.0.0.1:5432. Tests that need one are skipped without it, and say
 * so; `MLLD_TEST_POSTGRES=required` makes that an error.
 */
import { randomBytes } from 'node:crypto';
import { env } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { Connection } from '../../../journal/postgres/connection.js';
import { migrate } from '../../../journal/postgres/migrate.js';
import { openTeamStore, type TeamStore, type TeamStoreOptions } from '../../../journal/postgres/open-store.js';
import { connectClient } from '../../../journal/postgres/pg-client.js';
import { parseStoreAddress } from '../../../journal/postgres/store-address.js';

const WANTED = env['MLLD_TEST_POSTGRES'];
const SERVER = WANTED === undefined || WANTED === 'required' ? 'postgres://postgres@127.0.0.1:5432/postgres' : WANTED;

const TOO_MANY_CONNECTIONS = '53300';
const FULL_MS = 30_000;

function connectionTo(url: string): Connection {
  const address = parseStoreAddress(url, { project: 'none', environment: env });
  const connect = (onLost: () => void) => whenFree(() => connectClient(address, { connectMs: 5000, onLost }));
  return new Connection(connect, async () => undefined, address.shown);
}

/** The tests of several files, each with several processes, may have all connections that the server gives. */
async function whenFree<T>(connect: () => Promise<T>): Promise<T> {
  for (const endMs = performance.now() + FULL_MS; ;) {
    try {
      return await connect();
    } catch (error) {
      if ((error as { readonly code?: string }).code !== TOO_MANY_CONNECTIONS || performance.now() > endMs) throw error;
      await sleep(200);
    }
  }
}

const administrator = connectionTo(SERVER);
const reason = await administrator.query('select 1', []).then(
  () => undefined,
  (error: Error) => error.message,
);
if (reason !== undefined && WANTED !== undefined) throw new Error(`MLLD_TEST_POSTGRES=${WANTED}: ${reason}`);

/** The reason why there is no server; undefined when there is one. */
export const noServer = reason;

export interface TestDatabase {
  readonly url: string;
  /** The address of a project of its own. */
  project(): string;
  query: Connection['query'];
}

/** Makes a database with the schema, which is removed after the tests of the file. */
export async function makeDatabase({ migrated = true } = {}): Promise<TestDatabase> {
  const name = `mlld_test_${randomBytes(6).toString('hex')}`;
  await administrator.query(`create database ${name} template template0 encoding 'UTF8'`);
  const url = new URL(SERVER);
  url.pathname = name;
  const own = connectionTo(url.href);
  afterAll(async () => {
    await own.close();
    await administrator.query(`drop database ${name} with (force)`);
  });
  if (migrated) await migrate(own, { dryRun: false, asSuperuser: true });
  let projects = 0;
  return {
    url: url.href,
    project() {
      const project = new URL(url);
      project.searchParams.set('project', `p${++projects}`);
      return project.href;
    },
    query: (text, values) => own.query(text, values),
  };
}

export function openTestStore(url: string, options: Partial<TeamStoreOptions> = {}): TeamStore {
  const address = parseStoreAddress(url, { environment: env });
  return openTeamStore({
    connect: (onLost) => connectClient(address, { connectMs: 5000, onLost }),
    project: address.project,
    shown: address.shown,
    keys: { sealingKey: undefined, read: async () => undefined, make: async () => randomBytes(32) },
    ...options,
  });
}
