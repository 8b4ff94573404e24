/** The index of a workflow, when runs execute side by side and results are sealed. */
import { expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { Journal, JournalStore } from '../../../journal/store.js';
import { loadWorkflow } from '../../../replay/memo/load.js';
import { usableEntry } from '../../../replay/memo/memo.js';
import { readFiles } from '../../../replay/memo/read-result.js';
import { call, finished, JOB, callKeyOf, runRef, started } from '../../support/written-runs.js';

async function begin(store: JournalStore, number: number, facts: readonly Fact[]): Promise<Journal> {
  const journal = await store.create(runRef(number));
  for (const fact of [started(runRef(number)), ...facts]) await journal.append(fact);
  return journal;
}

const load = async (store: JournalStore) => loadWorkflow(store, JOB, { onDefect: () => expect.unreachable() });

/** So many calls that an index is worth its while. */
const MANY = Array.from({ length: 500 }, (_, number) => call(`main/for#0[${number}]/ask#0`, `buoy ${number}`)).flat();

it('ends with the first run that is still being written, so that no later result of that run is missed', async () => {
  const store = openMemoryStore();
  const early = await begin(store, 1, MANY);
  const later = await begin(store, 2, [...MANY, finished()]);
  await later.close();
  await load(store);
  expect(await store.readDerived(JOB, 'index')).toBeDefined();
  for (const fact of call('main/ask#9', 'late')) await early.append(fact);
  await early.close();
  expect(usableEntry((await load(store)).memo, callKeyOf('late'))).toBeDefined();
});

it('remembers which results need a key to be read', async () => {
  const store = openMemoryStore();
  const sealed = call('main/ask#0', 'token').map((fact) =>
    fact.type === 'call.completed' ? { ...fact, result: { sealed: 'AAAA', keyId: '0011223344556677' } } : fact,
  );
  const journal = await begin(store, 1, [...sealed, ...MANY, finished()]);
  await journal.close();
  const folded = await load(store);
  expect(await store.readDerived(JOB, 'index')).toBeDefined();
  for (const { memo } of [folded, await load(store)]) {
    expect(usableEntry(memo, callKeyOf('token'))?.result.sealed).toBe(true);
    expect(usableEntry(memo, callKeyOf('buoy 1'))?.result.sealed).toBe(false);
  }
});

it('remembers which results say what their calls used, so that a reuse reads no others', async () => {
  const store = openMemoryStore();
  const members = [{ usage: { costUsd: 0.5, costSource: 'told' as const } }, { session: 's1' }];
  const calls = members.map((about, i) =>
    call(`main/ask#${i}`, `used ${i}`).map((fact) => ({ ...fact, ...(fact.type === 'call.completed' && about) })),
  );
  const journal = await begin(store, 1, [...calls.flat(), ...MANY, finished()]);
  await journal.close();
  const folded = await load(store);
  expect(await store.readDerived(JOB, 'index')).toBeDefined();
  for (const { memo } of [folded, await load(store)]) {
    for (const i of members.keys()) expect(usableEntry(memo, callKeyOf(`used ${i}`))?.result.hasUsage).toBe(true);
    expect(usableEntry(memo, callKeyOf('buoy 1'))?.result.hasUsage).toBe(false);
  }
});

it('remembers what the calls inside had cost, beside what a call had cost itself', async () => {
  const store = openMemoryStore();
  const costs = { usage: { costUsd: 0.5, costSource: 'told' as const }, insideUsd: 0.25 };
  const around = call('main/ask#0', 'token').map((fact) => (fact.type === 'call.completed' ? { ...fact, ...costs } : fact));
  const journal = await begin(store, 1, [...around, ...MANY, finished()]);
  await journal.close();
  const folded = await load(store);
  expect(await store.readDerived(JOB, 'index')).toBeDefined();
  for (const { memo } of [folded, await load(store)]) {
    expect(usableEntry(memo, callKeyOf('token'))?.result).toMatchObject({ costUsd: 0.5, insideUsd: 0.25 });
    expect(usableEntry(memo, callKeyOf('buoy 1'))?.result.insideUsd).toBeUndefined();
  }
});

it('remembers which results have files of their calls, so that a plan reads no others', async () => {
  const store = openMemoryStore();
  const files = [{ path: 'out/a.md', bytes: 3, mode: 0o644, reason: 'too-large' as const }];
  const written = call('main/ask#0', 'token').map((fact) => (fact.type === 'call.completed' ? { ...fact, files } : fact));
  const journal = await begin(store, 1, [...written, ...MANY, finished()]);
  await journal.close();
  const folded = await load(store);
  expect(await store.readDerived(JOB, 'index')).toBeDefined();
  for (const { memo } of [folded, await load(store)]) {
    const entry = usableEntry(memo, callKeyOf('token'));
    expect(entry?.result).toMatchObject({ hasFiles: true, carries: true });
    expect(entry && (await readFiles(store, entry.result))).toEqual(files);
    const other = usableEntry(memo, callKeyOf('buoy 1'));
    expect(other?.result).toMatchObject({ hasFiles: false });
    expect(other && (await readFiles(store, other.result))).toBeUndefined();
  }
});
