/**
 * Removes uploaded pipelines that never became a run, because a server was killed between writing the file and the first event of the run.
 * The client never got an id, and there is nothing to resume.
 *
 * UPLOAD-1 An upload that has a run is kept, and so is a young one: another server may be about to run it.
 * UPLOAD-2 A folder is removed as a whole. A kill in between leaves a folder without a file, which is removed the next time.
 */
import path from 'node:path';
import type { JournalStore } from '../../journal/store.js';
import { uploadFolder, workflowFor, type Project } from '../api/pipeline-runs.js';
import { foldersIn, removeFolder, type KeptFolder } from '../world/files/folders.js';

const YOUNG_MS = 3_600_000;

/** Returns how many were removed. */
export async function removeOrphanedUploads(project: Project, store: JournalStore, nowMs: number): Promise<number> {
  const old = (await foldersIn(uploadFolder(project))).filter(({ changedMs }) => nowMs - changedMs > YOUNG_MS);
  if (old.length === 0) return 0;
  const recorded = new Set<string>(await store.workflows());
  const orphaned = old.filter(({ path: folder, files }: KeptFolder) =>
    files.every((file) => !recorded.has(workflowFor(project, path.join(folder, file)))),
  );
  for (const { path: folder } of orphaned) await removeFolder(folder);
  return orphaned.length;
}
