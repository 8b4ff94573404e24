/**
 * Continues a run of the file store whose writer is gone.
 *
 * REOPEN-1 The lock of the workflow is held from the look at the run until the run's own lock names this process, so that two processes
 *    cannot both continue it. A kill in between leaves the lock of a dead process, which stops nobody.
 * REOPEN-2 Lines that the earlier writer left with the kernel are made durable before one is appended: no line is durable before one that
 *    precedes it. A kill until then leaves the run as it was.
 * REOPEN-3 Nothing is removed or overwritten. Where the last file ends in a torn line, the run continues in the next segment, whose head
 *    names the end of the last whole line. A kill before its rename leaves the run as it was and a `.tmp` that means nothing (SEGMENT-2).
 * REOPEN-4 A run that has ended, that a living process writes, or that is damaged anywhere but in a torn tail is refused: what is behind
 *    damage would not follow on it.
 */
import type { Disk } from '../disk.js';
import { journalError, JournalError } from '../../errors.js';
import type { RunRef } from '../../ids.js';
import { lockPath, runPath } from '../layout.js';
import { RunFiles } from './run-files.js';
import { markAlive, unmark } from './run-liveness.js';
import type { CreateOptions, Defect, Journal, RunFile, RunStore, ScanReport } from '../../store.js';
import { RunWriter } from '../../writer.js';

type Reads = Pick<RunStore, 'runs' | 'scan' | 'acquireWorkflowLock'>;

export async function reopenRun(store: Reads, disk: Disk, journal: string, ref: RunRef, options?: CreateOptions): Promise<Journal> {
  await existingRun(store, ref); // the lock makes the folder of its workflow
  const unlock = await store.acquireWorkflowLock(ref.workflow); // REOPEN-1
  try {
    const end = await endOf(store, ref);
    const lock = lockPath(journal, ref);
    const release = (): Promise<void> => unmark(disk, lock);
    await disk.remove(lock); // of the dead process
    try {
      markAlive(disk, lock, () => undefined);
      return new RunWriter(ref, await RunFiles.reopen(disk, runPath(journal, ref), end), release, options, { end });
    } catch (error) {
      await release();
      throw error;
    }
  } catch (error) {
    throw journalError(error, `continue run ${ref.run} of ${ref.workflow}`);
  } finally {
    await unlock();
  }
}

/** Throws JOURNAL_RUN_UNKNOWN. */
export async function existingRun(store: Pick<RunStore, 'runs'>, ref: RunRef): Promise<RunFile> {
  const file = (await store.runs(ref.workflow)).find((candidate) => candidate.ref.run === ref.run);
  if (file !== undefined) return file;
  throw isUnknown(ref);
}

/** REOPEN-4 */
async function endOf(store: Reads, ref: RunRef): Promise<ScanReport['end']> {
  const { liveness } = await existingRun(store, ref);
  if (liveness === 'running') throw inUse(ref);
  if (liveness === 'finished') throw hasEnded(ref);
  let damage: Defect | undefined;
  const { end } = await store.scan(ref, () => undefined, {
    onDefect: (defect) => {
      if (defect.kind !== 'torn-tail') damage ??= defect;
    },
  });
  if (damage === undefined) return end;
  throw new JournalError('JOURNAL_RUN_DAMAGED', `run ${ref.run} of ${ref.workflow} can't be continued: ${damage.message}`, {
    hint: 'begin a new run of the workflow; this one can still be read',
  });
}

export function isUnknown({ run, workflow }: RunRef): JournalError {
  return new JournalError('JOURNAL_RUN_UNKNOWN', `there is no run ${run} of ${workflow}`);
}

export function inUse({ run, workflow }: RunRef): JournalError {
  return new JournalError('JOURNAL_RUN_IN_USE', `run ${run} of ${workflow} has a writer`, { hint: 'close it first, or end its process' });
}

export function hasEnded({ run, workflow }: RunRef, doing: 'continue' | 'seal' = 'continue'): JournalError {
  return new JournalError('JOURNAL_RUN_FINISHED', `run ${run} of ${workflow} has ended, and nothing follows run.finished`, {
    hint: doing === 'seal' ? 'it needs no seal: no process can append to it' : 'begin a new run of the workflow',
  });
}
