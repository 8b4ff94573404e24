import { beforeEach, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { JournalStore } from '../../../journal/store.js';
import { loadWorkflow } from '../../../replay/memo/load.js';
import { usableEntry } from '../../../replay/memo/memo.js';
import { rejectResult, restoreResult, type MarkRequest } from '../../../src/session/upkeep/reject-result.js';
import { call, callKeyOf, finished, JOB, runRef, started } from '../../support/written-runs.js';

const PATH = 'main/ask#0';
let store: JournalStore;
beforeEach(() => (store = openMemoryStore()));

async function record(number: number, ...facts: readonly (readonly Fact[])[]): Promise<void> {
  const journal = await store.create(runRef(number));
  for (const fact of [started(runRef(number)), ...facts.flat(), finished()]) await journal.append(fact);
  await journal.close();
}

async function request(number: number, path = PATH): Promise<MarkRequest> {
  const file = (await store.runs(JOB)).find(({ ref }) => ref.run === runRef(number).run);
  if (file === undefined) throw new Error(`run ${number} is not recorded`);
  const by = { argv: ['journal', 'reject'], host: 'here', pid: 7, versions: { mlld: '0.1.0', node: '20.20.0' } };
  return { store, file, path, name: 'job', by, nowMs: () => Date.UTC(2026, 0, 2), onDefect: () => expect.unreachable() };
}

const isUsable = async (): Promise<boolean> =>
  usableEntry((await loadWorkflow(store, JOB, { onDefect: () => expect.unreachable() })).memo, callKeyOf('ebb')) !== undefined;

it('records the mark in a run of its own, which is no prior run', async () => {
  await record(1, call(PATH, 'ebb'));
  const { recordedIn, marked } = await rejectResult({ ...(await request(1)), reason: 'dull' });
  expect([marked, await isUsable()]).toEqual(['rejected', false]);
  const { runs, seen } = await loadWorkflow(store, JOB, { onDefect: () => expect.unreachable() });
  expect([runs.map(({ ref }) => ref.run), seen]).toEqual([[runRef(1).run], [runRef(1).run, recordedIn]]);
});

it('restores what it rejected', async () => {
  await record(1, call(PATH, 'ebb'));
  await rejectResult(await request(1));
  expect(await restoreResult(await request(1))).toMatchObject({ marked: 'restored', isUsable: true });
  expect(await isUsable()).toBe(true);
  await expect(restoreResult(await request(1))).rejects.toMatchObject({ code: 'REJECT_NOTHING' });
});

it.each([
  ['a call that failed', () => record(1, call(PATH, 'ebb', { outcome: 'failed' }))],
  ['a result that was invalidated since', () => record(1, call(PATH, 'ebb'), [invalidation()])],
])('refuses %s', async (_, write) => {
  await write();
  await expect(rejectResult(await request(1))).rejects.toMatchObject({ code: 'REJECT_NOTHING' });
});

function invalidation(): Fact {
  return { type: 'memo.invalidated', selector: '@ask', keys: [callKeyOf('ebb')] };
}

it('refuses a result that a later run replaced, and a path without a call', async () => {
  await record(1, call(PATH, 'ebb'));
  await record(2, call(PATH, 'ebb'));
  await expect(rejectResult(await request(1))).rejects.toMatchObject({
    code: 'REJECT_NOTHING',
    hint: expect.stringMatching(`^mlld journal reject [^ ]+ '?${PATH}'? rejects that result`),
  });
  await expect(rejectResult(await request(1, 'main/ask#1'))).rejects.toMatchObject({
    code: 'REJECT_PATH',
    message: expect.stringContaining(PATH),
  });
});
