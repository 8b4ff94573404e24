/**
 * Saves a recorded run as a regression test: a folder with the run, the runs whose results it reused, and their blobs. It holds nothing
 * else of the project and needs nothing of it.
 *
 *   test.json            { "workflow": …, "run": … }
 *   journal/             as `.mlld/journal`
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { openJournalFolder } from '../../../journal/storage/file-store.js';
import { isRunId, textOfRef, workflowOf, type RunRef } from '../../../journal/ids.js';
import { runPath, runsFolder } from '../../../journal/storage/layout.js';
import { makeFolders } from '../../../journal/storage/make-folders.js';
import type { JournalStore } from '../../../journal/store.js';
import { blobsOf, runsToBundle } from '../../../replay/upkeep/bundle-closure.js';
import { foldRun } from '../../../replay/fold/fold-run.js';
import { recording } from '../../../replay/recording/recorded-world.js';
import { MlldError } from '../../errors.js';
import { keeperOf } from '../upkeep/keeper-of.js';

export interface SavedTest {
  readonly store: JournalStore;
  readonly ref: RunRef;
}

const TEST_FILE = 'test.json';
const JOURNAL = 'journal';
const KEYED_DIGEST = 'hmac-sha256:';

/** Throws REPLAY_TEST for a folder that is not empty and for a run with secrets. `test.json` is written last, so a kill leaves no test. */
export async function saveTest(store: JournalStore, root: string, ref: RunRef, folder: string): Promise<SavedTest> {
  const existing = await fs.readdir(folder).catch(() => []);
  if (existing.length > 0) throw new MlldError('REPLAY_TEST', `${folder} is not empty`, { hint: 'name a folder that does not exist yet' });
  const [, ...others] = await runsToBundle(store, ref);
  await refuseSecrets(store, ref, others);
  const keeper = await keeperOf(store, root);
  const target = path.join(folder, JOURNAL);
  const saved = openJournalFolder(target, { sealingKey: 'none' });
  for (const run of [ref, ...others]) {
    makeFolders(runsFolder(target, run.workflow));
    await fs.writeFile(runPath(target, run), await keeper.lines(run), { mode: 0o600 });
    for (const content of (await blobsOf(store, run, (event) => event)).values()) await saved.putBlob(content);
  }
  await fs.writeFile(path.join(folder, TEST_FILE), `${JSON.stringify(ref, undefined, 2)}\n`);
  return { store: saved, ref };
}

/** Throws REPLAY_TEST for a folder without a saved test. */
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

/** A test holds no key, so that it may lie in any repository: what only a key opens can't be in it. Throws REPLAY_TEST. */
async function refuseSecrets(store: JournalStore, ref: RunRef, others: readonly RunRef[]): Promise<void> {
  const { calls } = await foldRun(store, ref, recording);
  const reused = new Set([...calls.values()].flatMap(({ from }) => (from ? [textOfRef(from)] : [])));
  for (const run of [ref, ...others]) {
    const isOwn = run.run === ref.run;
    await store.scan(run, (event) => {
      if ((!isOwn && !reused.has(textOfRef({ run: run.run, seq: event.seq }))) || !needsKey(event)) return;
      const where = 'op' in event ? `event ${event.seq}, ${event.op}` : `event ${event.seq}, ${event.type}`;
      throw new MlldError('REPLAY_TEST', `Run ${ref.run} can't be saved as a test: a secret went into ${where} of run ${run.run}`, {
        hint: 'a test holds no key: replay the run itself where its key is',
      });
    });
  }
}

/** A sealed payload, or a digest that only the key makes. */
function needsKey(value: unknown): boolean {
  if (typeof value === 'string') return value.startsWith(KEYED_DIGEST);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([member, inner]) => member === 'keyId' || needsKey(inner));
}
