/** A process that records into a database until it is killed. */
import { openTeamStore } from '../../../journal/postgres/open-store.js';
import { connectClient } from '../../../journal/postgres/pg-client.js';
import { parseStoreAddress } from '../../../journal/postgres/store-address.js';
import { writeEndlessly } from '../support/write-endlessly.js';

const [url, leaseMs] = process.argv.slice(2) as [string, string];
const address = parseStoreAddress(url, { environment: {} });
const store = openTeamStore({
  connect: (onLost) => connectClient(address, { connectMs: 5000, onLost }),
  project: address.project,
  shown: address.shown,
  keys: { sealingKey: 'none', read: async () => undefined, make: async () => new Uint8Array(32) },
  leaseMs: Number(leaseMs),
});
await writeEndlessly(store);
