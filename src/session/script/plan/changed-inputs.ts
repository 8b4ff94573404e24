/** Finds, for a plan, the files that were changed since the last run read them: what comes from them makes other calls. */
import path from 'node:path';
import { sha256 } from '../../../../journal/canonical.js';
import type { RunRef } from '../../../../journal/ids.js';
import type { JournalStore } from '../../../../journal/store.js';
import { foldRun } from '../../../../replay/fold/fold-run.js';
import { filesRead } from '../../../../replay/resume/files-read.js';
import type { World } from '../../../world/world.js';

/** Returns paths relative to the project, sorted. A file that can't be read any more is changed, too. */
export async function changedInputs(store: JournalStore, last: RunRef, { world, root }: { world: World; root: string }): Promise<string[]> {
  const { first, written } = await foldRun(store, last, filesRead);
  const changed: string[] = [];
  for (const [file, digest] of first) {
    if (written.has(file)) continue;
    const text = await world.perform('file.read', { path: file }).then(
      (read) => ('text' in read ? read.text : undefined),
      () => undefined,
    );
    if (text === undefined || String(sha256(text)) !== String(digest)) changed.push(path.relative(root, file).replaceAll(path.sep, '/'));
  }
  return changed.sort();
}
