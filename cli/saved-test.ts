/**
 * A recorded run as a regression test: a folder with the run, the runs that lent it results, and their contents. It holds nothing of the
 * project and needs nothing of it.
 *
 *   test.json            { "workflow": …, "run": … }
 *   journal/             as `.mlld/journal`
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { openJournalFolder } from '../journal/file-store.js';
import { isRunId, workflowOf, type BlobId, type RunRef } from '../journal/ids.js';
import { journalFolder, runPath, runsFolder } from '../journal/layout.js';
import { makeFolders } from '../journal/make-folders.js';
import type { JournalStore } from '../journal/store.js';
import { foldRun } from '../replay/load.js';
import { forEachDigest } from '../replay/named-blobs.js';
import { recording } from '../replay/recorded-world.js';
import { MlldError } from '../src/errors.js';

export interface SavedTest {
  readonly store: JournalStore;
  readonly ref: RunRef;
}

const TEST_FILE = 'test.json';
const JOURNAL = 'journal';

/** Throws REPLAY_TEST when the folder holds something already. */
export async function saveTest(store: JournalStore, root: string, ref: RunRef, folder: string): Promise<SavedTest> {
  const existing = await fs.readdir(folder).catch(() => []);
  if (existing.length > 0) throw new MlldError('REPLAY_TEST', `${folder} is not empty`, { hint: 'name a folder that is not there yet' });
  const target = path.join(folder, JOURNAL);
  const saved = openJournalFolder(target, { sealingKey: 'none' });
  for (const run of [ref, ...(await lendersOf(store, ref))]) {
    makeFolders(runsFolder(target, run.workflow));
    await fs.copyFile(runPath(journalFolder(root), run), runPath(target, run));
    for (const blob of await contentsOf(store, run)) {
      const content = await store.getBlob(blob);
      if (content) await saved.putBlob(content);
    }
  }
  await fs.writeFile(path.join(folder, TEST_FILE), `${JSON.stringify(ref, undefined, 2)}\n`);
  return { store: saved, ref };
}

/** Throws REPLAY_TEST for a folder that is none. */
export async function openTest(folder: string): Promise<SavedTest> {
  const text = await fs.readFile(path.join(folder, TEST_FILE), 'utf8').catch(() => undefined);
  const { workflow, run } = parsed(text);
  if (typeof workflow !== 'string' || typeof run !== 'string' || !isRunId(run)) {
    throw new MlldError('REPLAY_TEST', `${folder} holds no saved test`, { hint: 'mlld journal replay RUN --save-test DIR makes one' });
  }
  return { store: openJournalFolder(path.join(folder, JOURNAL), { sealingKey: 'none' }), ref: { workflow: workflowOf(workflow), run } };
}

function parsed(text: string | undefined): { readonly workflow?: unknown; readonly run?: unknown } {
  try {
    return (text === undefined ? {} : (JSON.parse(text) ?? {})) as object;
  } catch {
    return {};
  }
}

/** The runs whose results this one was served. */
async function lendersOf(store: JournalStore, ref: RunRef): Promise<readonly RunRef[]> {
  const { calls } = await foldRun(store, ref, recording);
  const runs = new Set([...calls.values()].flatMap(({ from }) => (from && from.run !== ref.run ? [from.run] : [])));
  const found = await Promise.all([...runs].map((run) => store.find(run)));
  return found.filter((run) => run !== undefined);
}

async function contentsOf(store: JournalStore, ref: RunRef): Promise<ReadonlySet<BlobId>> {
  const named = new Set<BlobId>();
  await store.scan(ref, (event) => forEachDigest(event, (digest) => named.add(digest)));
  return named;
}
