import { expect, it } from 'vitest';
import { journalError, JournalError } from '../../../journal/errors.js';
import type { JournalStore } from '../../../journal/store.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import { storeError } from '../../../journal/postgres/store-errors.js';
import { retryingStore } from '../../../src/session/ports/results/retrying-store.js';

/** A store whose blobs can't be written the first `failures` times. */
function failing(failures: number, error: Error): { readonly store: JournalStore; readonly tries: () => number } {
  const memory = openMemoryStore();
  let tries = 0;
  const putBlob: JournalStore['putBlob'] = async (content) => {
    tries += 1;
    if (tries <= failures) throw error;
    return memory.putBlob(content);
  };
  return { store: Object.assign(Object.create(memory) as JournalStore, { putBlob }), tries: () => tries };
}

function diskFull(): JournalError {
  return journalError(Object.assign(new Error('no space'), { code: 'ENOSPC' }), 'write a blob');
}

/** A store whose payloads can't be written. */
function refusingPayloads(error: Error): { readonly store: JournalStore; readonly tries: () => number } {
  let tries = 0;
  const payload: JournalStore['payload'] = () => {
    tries += 1;
    return Promise.reject(error);
  };
  return { store: Object.assign(Object.create(openMemoryStore()) as JournalStore, { payload }), tries: () => tries };
}

function fromDatabase(sqlState: string): JournalError {
  return storeError(Object.assign(new Error('of the server'), { code: sqlState }), 'postgres://db.example/mlld');
}

/** Every look at the clock takes `stepMs`. */
function setUp(store: JournalStore, { waitMs, stepMs = 0, stopped = false }: { waitMs: number; stepMs?: number; stopped?: boolean }) {
  let nowMs = 0;
  const seen: string[] = [];
  const retrying = retryingStore(store, {
    waitMs,
    monotonicMs: () => (nowMs += stepMs),
    hasGivenUp: () => stopped,
    onOutage: (error, ms) => seen.push(error ? `outage ${ms}` : 'over'),
    onGivenUp: ({ code }) => seen.push(`given up: ${code}`),
  });
  return { retrying, seen };
}

it('stores a result as soon as the disk takes it again, and reports no short outage', async () => {
  const { store, tries } = failing(3, diskFull());
  const { retrying, seen } = setUp(store, { waitMs: 60_000 });
  const { blob } = await retrying.putBlob('paid for');
  expect(Buffer.from((await store.getBlob(blob)) ?? []).toString()).toBe('paid for');
  expect([tries(), seen]).toEqual([4, []]);
});

it('reports a long outage once, and its end', async () => {
  const { store } = failing(3, diskFull());
  const { retrying, seen } = setUp(store, { waitMs: 60_000, stepMs: 600 });
  await retrying.putBlob('paid for');
  expect(seen).toEqual(['outage 60000', 'over']);
});

it('gives up when the time is over, and does not wait again for the next result', async () => {
  const { store, tries } = failing(Number.POSITIVE_INFINITY, diskFull());
  const { retrying, seen } = setUp(store, { waitMs: 30, stepMs: 10 });
  await expect(retrying.putBlob('first')).rejects.toMatchObject({ code: 'JOURNAL_DISK_FULL' });
  const before = tries();
  await expect(retrying.putBlob('second')).rejects.toMatchObject({ code: 'JOURNAL_DISK_FULL' });
  expect(tries()).toBe(before + 1);
  expect(seen.at(-1)).toBe('given up: JOURNAL_DISK_FULL');
  expect(seen).not.toContain('over');
});

it('does not wait once the run makes no more calls', async () => {
  const { store, tries } = failing(9, diskFull());
  await expect(setUp(store, { waitMs: 60_000, stopped: true }).retrying.putBlob('x')).rejects.toThrow('no space');
  expect(tries()).toBe(1);
});

it('throws at once what is no trouble of the disk', async () => {
  const { store, tries } = failing(9, new JournalError('NOT_JSON', 'a bigint'));
  await expect(setUp(store, { waitMs: 60_000 }).retrying.putBlob('x')).rejects.toMatchObject({ code: 'NOT_JSON' });
  expect(tries()).toBe(1);
});

it('waits for a database that is away', async () => {
  const { store, tries } = failing(3, fromDatabase('57P01'));
  const { retrying, seen } = setUp(store, { waitMs: 60_000 });
  await retrying.putBlob('paid for');
  expect([tries(), seen]).toEqual([4, []]);
});

it.each([
  ['lacks a right', '42501', 'STORE_DENIED'],
  ['does not know the user any more', '28P01', 'STORE_REFUSED'],
  ['has other tables', '42P01', 'STORE_MIGRATE'],
  ['rejects a statement', '22003', 'STORE_FAILED'],
])('gives up at once where the database %s', async (_, sqlState, code) => {
  const { store, tries } = failing(9, fromDatabase(sqlState));
  const { retrying, seen } = setUp(store, { waitMs: 60_000 });
  await expect(retrying.putBlob('paid for')).rejects.toMatchObject({ code });
  expect([tries(), seen]).toEqual([1, [`given up: ${code}`]]);
});

it('stores a payload that the database refuses no second time', async () => {
  const { store, tries } = refusingPayloads(fromDatabase('42501'));
  const { retrying, seen } = setUp(store, { waitMs: 60_000 });
  await expect(retrying.payload('paid for', { mayContinue: true })).rejects.toMatchObject({ code: 'STORE_DENIED' });
  expect([tries(), seen]).toEqual([1, ['given up: STORE_DENIED']]);
});
