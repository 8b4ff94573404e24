/** A process that records into a store as fast as it can until it is killed; says on standard output what was acknowledged. */
import { writeAll } from '../../../cli/terminal/write-all.js';
import { openTeamStore } from '../../../journal/postgres/open-store.js';
import { connectClient } from '../../../journal/postgres/pg-client.js';
import { parseStoreAddress } from '../../../journal/postgres/store-address.js';
import { callCompleted, callStarted, opStarted, runRef, started } from '../support/facts.js';

const WRITERS = 8;
const [url, leaseMs] = process.argv.slice(2) as [string, string];
const address = parseStoreAddress(url, { environment: {} });
const store = openTeamStore({
  connect: (onLost) => connectClient(address, { connectMs: 5000, onLost }),
  project: address.project,
  shown: address.shown,
  keys: { sealingKey: 'none', read: async () => undefined, make: async () => new Uint8Array(32) },
  leaseMs: Number(leaseMs),
});
const journal = await store.create(runRef(1));
/** Waits while the pipe is full: importing `node:process` opens standard output, which makes the pipe non-blocking. */
const acknowledge = (n: number): void => writeAll(1, `${n}\n`);

await journal.append(started);
acknowledge(0);
let calls = 0;
await Promise.all(
  Array.from({ length: WRITERS }, async () => {
    for (;;) {
      const n = calls++;
      journal.post(opStarted(n));
      acknowledge((await journal.append(callStarted(n))).seq);
      acknowledge((await journal.append(callCompleted(n, `answer ${n} `.repeat(n % 500)))).seq);
    }
  }),
);
