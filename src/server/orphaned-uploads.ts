/**
 * Texts that were sent and never became a run: a server was killed behind keeping one and before the first event of its run. Nobody was
 * told of them, and nothing can be resumed from them.
 *
 * Y1 A text that any run is of stays, and so does one that is young: another server may be about to run it.
 * Y2 A folder goes as a whole. A kill in between leaves one without a text, which is a stray too.
 */
import path from 'node:path';
import type { JournalStore } from '../../journal/store.js';
import { uploadFolder, workflowFor, type Project } from '../session/project.js';
import { foldersIn, removeFolder, type KeptFolder } from '../world/files/folders.js';

const YOUNG_MS = 3_600_000;

/** Gives how many there were. */
export async function removeOrphanedUploads(project: Project, store: JournalStore, nowMs: number): Promise<number> {
  const old = (await foldersIn(uploadFolder(project))).filter(({ changedMs }) => nowMs - changedMs > YOUNG_MS);
  if (old.length === 0) return 0;
  const recorded = new Set<string>(await store.workflows());
  const strays = old.filter(({ path: folder, files }: KeptFolder) =>
    files.every((file) => !recorded.has(workflowFor(project, path.join(folder, file)))),
  );
  for (const { path: folder } of strays) await removeFolder(folder);
  return strays.length;
}
