/** Separates upkeep, which changes and removes what is recorded, from the place where it is kept. Runs themselves only append. */
import type { RunRef } from '../ids.js';
import type { Redacted } from '../event.js';
import type { ScanOptions } from '../store.js';
import type { Bundle, StoredRun } from './bundle.js';
import type { Deleter, StoredFile } from './delete-runs.js';
import type { Edit } from './rewrite.js';

/** Implementations: `file-keeper.ts`, `../postgres/pg-keeper.ts`. Every function rejects with `JournalError` when the store fails. */
export interface Keeper {
  /** Finishes what a killed keeper began, and makes sure of writers that seem to be gone: they append nothing more. */
  recover(): Promise<void>;
  /** Deletes temporary files that no process is writing: they may be copies of anything. */
  deleteUnfinished(): Promise<void>;
  /** The run must have no writer. */
  deleteRun(ref: RunRef): Promise<void>;
  /**
   * Changes events for good, and returns how many. The run must have no writer. Positions of its events differ afterwards. Reports lines
   * that can't be read, or that `edit` fails on: they are left as they are.
   */
  rewriteRun(ref: RunRef, edit: Edit, because: Redacted, options?: Pick<ScanOptions, 'onDefect'>): Promise<number>;
  /** Returns the lines of a run, whatever they hold. */
  lines(ref: RunRef): Promise<Uint8Array>;
  /** Returns the lines of a run as an edit would leave them, for a copy of it; the run is not changed. */
  editedLines(ref: RunRef, edit: Edit, because: Redacted): Promise<Uint8Array>;
  /** Adds runs and their blobs as they are. Rejects with JOURNAL_RUN_EXISTS before anything is written. */
  storeBundle(bundle: Bundle): Promise<readonly StoredRun[]>;
  /**
   * Makes what was removed unreadable as far as the store can. Called when all of it is removed. Returns the statements that the owner of
   * the store has to run for that, where this user may not.
   */
  purge(): Promise<string | undefined>;
  readonly blobs: Deleter | NamedBlobs;
}

/** A store through which upkeep goes. For files, the folder is needed instead (`file-keeper.ts`). */
export interface KeptStore {
  keeper(): Promise<Keeper>;
  /** Stops the writer of a run whose lease has run out. Rejects with JOURNAL_RUN_IN_USE and JOURNAL_RUN_FINISHED. */
  seal(ref: RunRef): Promise<void>;
}

/** The blobs of a store that knows which of its runs name them: unused ones can be removed while runs are in flight. */
export interface NamedBlobs {
  /** Removes the blobs that no run names but `going`; a dry run only lists them. */
  removeUnused(options: { readonly going: readonly RunRef[]; readonly dryRun: boolean }): Promise<readonly StoredFile[]>;
}
