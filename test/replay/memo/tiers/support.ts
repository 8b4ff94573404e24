/** Short pasts whose indexes have tiers all the same, and what an index must agree in with the fold of the runs. */
import fs from 'node:fs';
import path from 'node:path';
import type { Fact } from '../../../../journal/event.js';
import { realDisk, type Disk } from '../../../../journal/storage/disk.js';
import { openFileStore } from '../../../../journal/storage/file-store.js';
import type { JournalStore } from '../../../../journal/store.js';
import type { IndexLimits } from '../../../../replay/memo/index-on-disk.js';
import { loadWorkflow, type PriorRuns } from '../../../../replay/memo/load.js';
import type { MemoEntry } from '../../../../replay/memo/memo.js';
import { index, type Index } from '../../../../replay/memo/snapshot.js';
import { JOB, runRef } from '../../../support/written-runs.js';

/** An index is written for each event, and a tier for each second call. */
const SMALL: IndexLimits = { events: 1, runEvents: 0, rows: 1, rowsAbove: 1 };
/** A call of which nothing but its function is known. */
export const ENTRY: MemoEntry = {
  fn: 'review',
  fingerprint: undefined,
  site: undefined,
  declared: undefined,
  preview: undefined,
  attempt: undefined,
  scope: undefined,
  inside: [],
  result: undefined,
};

/** Nothing is written. */
export const NEVER: IndexLimits = { ...SMALL, events: Infinity };

/** Thousands of indexes are written here, and none has to outlast the machine. */
const quickDisk: Disk = { ...realDisk, sync: (_file, done) => done(null), syncFolder: async () => undefined };

export const openStore = (root: string): JournalStore => openFileStore(root, { disk: quickDisk });

export function load(store: JournalStore, limits: IndexLimits = SMALL): Promise<PriorRuns> {
  return loadWorkflow(store, JOB, { onDefect: ({ message }) => fail(message), limits });
}

function fail(message: string): never {
  throw new Error(message);
}

/** Appends a run; `before` is called before each event, when those before it are written. */
export async function append(
  store: JournalStore,
  number: number,
  facts: readonly Fact[],
  before: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  const journal = await store.create(runRef(number));
  for (const fact of facts) {
    await journal.flush();
    await before();
    journal.post(fact);
  }
  await journal.close();
}

/** Returns the fold of all runs, without any index. */
export async function folded(store: JournalStore): Promise<Index> {
  const state = index.initial();
  for (const { ref } of await store.runs(JOB)) {
    await store.scan(ref, (event, position) => void index.apply(state, event, { ref, position }));
  }
  return state;
}

/** Selects the parts in which two states must agree: not the tables that only hold each string once. */
export function essence({
  memo: { interned: _i, insides: _n, entries, within, calledIn, ...rest },
  complete,
  definitions,
}: Index): unknown {
  return {
    ...rest,
    entries: [...entries],
    within: new Map([...within].map(([key, around]) => [key, [...around].sort()])),
    calledIn: new Map(calledIn),
    complete,
    definitions,
  };
}

const folderOf = (root: string): string => path.join(root, '.mlld/journal', JOB);

/** Returns the paths of the index and its tiers. */
export function indexFiles(root: string): readonly string[] {
  const names = fs.existsSync(folderOf(root)) ? fs.readdirSync(folderOf(root)) : [];
  return names.filter((name) => name === 'index' || name.endsWith('.tier')).map((name) => path.join(folderOf(root), name));
}

export function tiersIn(root: string): readonly string[] {
  return indexFiles(root).filter((file) => file.endsWith('.tier'));
}
