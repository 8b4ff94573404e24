/** Stores declared output files as blobs of the journal, and knows which of their versions were written by a run. */
import type { BlobId, Workflow } from '../../../../journal/ids.js';
import type { JournalStore } from '../../../../journal/store.js';
import { foldRun } from '../../../../replay/fold/fold-run.js';
import { writtenFiles, type WrittenFiles } from '../../../../replay/memo/written-files.js';
import type { OutputFiles } from '../../../runtime/calls/result-cache.js';

export const NO_OUTPUT_FILES: OutputFiles = {
  keepsNewer: true,
  keep: async () => undefined,
  content: async () => undefined,
  wrote: async () => false,
};

export interface OutputFileSources {
  readonly store: JournalStore;
  /** The workflow and its fork sources. */
  readonly workflows: readonly Workflow[];
  readonly keepsNewer: boolean;
  readonly onTrouble: (error: Error) => void;
}

export function createOutputFiles({ store, workflows, keepsNewer, onTrouble }: OutputFileSources): OutputFiles {
  const ofThisRun: WrittenFiles = new Map();
  // Read only if a file differs from what a reused call had written; then all runs are read, once.
  let recorded: Promise<readonly WrittenFiles[]> | undefined;
  const wroteIn = (written: WrittenFiles, path: string, blob: BlobId): boolean => written.get(path)?.has(blob) === true;
  return {
    keepsNewer,
    async keep(path, content) {
      try {
        const kept = await store.putBlob(content);
        ofThisRun.set(path, (ofThisRun.get(path) ?? new Set()).add(kept.blob));
        return kept;
      } catch (error) {
        onTrouble(error as Error);
        return undefined;
      }
    },
    content: (blob) => store.getBlob(blob),
    async wrote(path, blob) {
      if (wroteIn(ofThisRun, path, blob)) return true;
      recorded ??= everyRun(store, workflows);
      return (await recorded).some((written) => wroteIn(written, path, blob));
    },
  };
}

async function everyRun(store: JournalStore, workflows: readonly Workflow[]): Promise<readonly WrittenFiles[]> {
  const all: WrittenFiles[] = [];
  for (const workflow of workflows) for (const { ref } of await store.runs(workflow)) all.push(await foldRun(store, ref, writtenFiles));
  return all;
}
