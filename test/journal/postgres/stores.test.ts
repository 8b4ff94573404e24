import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, describe } from 'vitest';
import { Connection, type SqlClient } from '../../../journal/postgres/connection.js';
import { migrate } from '../../../journal/postgres/migrate.js';
import { openTeamStore, type TeamStore } from '../../../journal/postgres/open-store.js';
import { journalStoreContract, largeTextContract } from '../store-contract.js';
import { claimsContract } from './claims/claims-contract.js';
import { makeDatabase, noServer, openTestStore } from './database.js';
import { openPglite } from './pglite.js';

const opened: TeamStore[] = [];
const kept = (store: TeamStore): TeamStore => {
  opened.push(store);
  return store;
};
// Each has connections, of which the server gives a hundred to all tests that run now.
afterEach(() => Promise.all(opened.splice(0).map((store) => store.close())));

describe.skipIf(noServer !== undefined)(`on a server${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : undefined;
  for (const contract of [journalStoreContract, largeTextContract])
    contract('PostgreSQL', () => kept(openTestStore(database?.project() ?? '')));
});

describe('in this process', async () => {
  const pglite = await openPglite();
  const shared: SqlClient = { ...pglite, end: async () => undefined };
  await migrate(
    new Connection(
      async () => shared,
      async () => undefined,
      'pglite',
    ),
    { dryRun: false, asSuperuser: true },
  );
  afterAll(() => pglite.end());
  let projects = 0;
  const open = (project: string): TeamStore =>
    kept(
      openTeamStore({
        connect: async () => shared,
        project,
        shown: 'pglite',
        keys: { sealingKey: undefined, read: async () => undefined, make: async () => randomBytes(32) },
        allowUnsafe: true,
      }),
    );
  journalStoreContract('PGlite', () => open(`p${++projects}`));
  // The server, where there is one, has shown already what becomes of a large text.
  if (noServer !== undefined) largeTextContract('PGlite', () => open(`p${++projects}`));
  claimsContract('PGlite', {
    project() {
      const project = `p${++projects}`;
      return () => open(project);
    },
    query: (text) => shared.query(text),
  });
});
