/** Payloads that the store of a team does not take. team-store.md 4.4, and 15, I7. */
import { expect, it } from 'vitest';
import { JournalError } from '../../../journal/errors.js';
import { storeError } from '../../../journal/postgres/store-errors.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { JournalStore } from '../../../journal/store.js';
import { createResultStorage } from '../../../src/session/ports/results/result-storage.js';

const LARGE = 'x'.repeat(100_000);
const AWAY = storeError(Object.assign(new Error('of the server'), { code: '57P01' }), 'postgres://db.example/mlld');
const DENIED = storeError(Object.assign(new Error('of the server'), { code: '42501' }), 'postgres://db.example/mlld');
const DISK = new JournalError('JOURNAL_DISK_FULL', 'no space', { cause: Object.assign(new Error('no space'), { code: 'ENOSPC' }) });

/** A store that takes no blob. */
function refusing(error: Error, sealingKey?: 'none'): JournalStore {
  const refuse = (): Promise<never> => Promise.reject(error);
  return Object.assign(Object.create(openMemoryStore(sealingKey)) as JournalStore, {
    payload: refuse,
    secretPayload: refuse,
    putBlob: refuse,
  });
}

function storageOver(store: JournalStore, patient?: JournalStore) {
  const seen: string[] = [];
  const storage = createResultStorage({
    store,
    retrying: store,
    patient,
    secrets: undefined,
    onTrouble: (error) => seen.push(`trouble: ${error.message}`),
    onGap: (error) => seen.push(`gap: ${error.message}`),
  });
  return { storage, seen };
}

it('waits for a store that is away with what the script saw, and leaves no gap', async () => {
  const { storage, seen } = storageOver(refusing(AWAY), openMemoryStore());
  expect(await storage.payload(LARGE)).toHaveProperty('blob');
  expect(seen).toEqual([]);
});

it.each([
  ['stays away', AWAY],
  ['refuses blobs', DENIED],
])('keeps what the script saw in its line where the store %s', async (_, error) => {
  const { storage, seen } = storageOver(refusing(error), refusing(error));
  expect(await storage.payload(LARGE)).toEqual({ inline: LARGE });
  expect(seen).toEqual([]);
});

it.each([
  ['stays away', AWAY],
  ['refuses blobs', DENIED],
])('keeps what was paid for in its line where the store %s, and warns', async (_, error) => {
  const { storage, seen } = storageOver(refusing(error), openMemoryStore());
  expect(await storage.payload(LARGE, { isPaid: true })).toEqual({ inline: LARGE });
  expect(seen).toEqual([`trouble: ${error.message}`]);
});

it('leaves a gap where a disk takes nothing', async () => {
  const { storage, seen } = storageOver(refusing(DISK));
  expect(await storage.payload(LARGE)).toEqual({ redacted: 'it could not be stored' });
  expect(seen).toEqual(['gap: no space']);
});

it.each([
  ['what the script saw', false, []],
  ['what was paid for', true, [`trouble: ${AWAY.message}`]],
])('keeps %s in its line under the key of the project, where it has a secret', async (_, isPaid, warned) => {
  const keyed = openMemoryStore(Buffer.alloc(32, 7));
  const away = Object.assign(Object.create(keyed) as JournalStore, { secretPayload: () => Promise.reject(AWAY) });
  const { storage, seen } = storageOver(away, away);
  const payload = await storage.secretPayload(LARGE, 'main', isPaid);
  expect(payload).toEqual({ sealed: expect.any(String), keyId: expect.any(String) });
  expect(JSON.stringify(payload)).not.toContain(LARGE.slice(0, 50));
  expect(await keyed.resolve(payload, 'main')).toBe(LARGE);
  expect(seen).toEqual(warned);
});

it('writes no secret into a line that it can not seal', async () => {
  const { storage, seen } = storageOver(refusing(AWAY, 'none'), refusing(AWAY, 'none'));
  expect(await storage.secretPayload(LARGE, 'main')).toEqual({ redacted: 'it could not be stored' });
  expect(seen).toHaveLength(1);
});
