/** Explains to people what the system's errors mean for a journal. */

import type { RunRef } from './ids.js';

/** Says what the disk or a user's files did to a journal. The renderer looks at these members, not at the class. */
export class JournalError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  constructor(code: string, message: string, details: { hint?: string; cause?: unknown } = {}) {
    super(message, { cause: details.cause });
    this.name = 'JournalError';
    this.code = code;
    this.hint = details.hint;
  }
}

/** Returns whether it is the store of a team that is away, or refuses what it was sent. */
export function isOfStore(error: unknown): error is JournalError {
  return error instanceof JournalError && error.code.startsWith('STORE_');
}

/** No later try of this process can record what it does: another process has taken the run, or the store lost a part of it. */
export function isTaken(error: unknown): error is JournalError {
  return error instanceof JournalError && (error.code === 'STORE_SEALED' || error.code === 'STORE_WENT_BACK');
}

/** Returns whether the store of a team can't be reached now, so that a later try may succeed. */
export function isUnreachable(error: unknown): error is JournalError {
  return error instanceof JournalError && error.code === 'STORE_UNREACHABLE';
}

/** Returns whether the store of a team can't be reached, or was away for so long that the own disk has what it did not take. */
export function isAway(error: unknown): error is JournalError {
  return isUnreachable(error) || (error instanceof JournalError && error.code === 'STORE_SPILLED');
}

const SHOWN_MAX = 200;

/** `remove` names what holds the run. Anybody may have written its id and its workflow: they stay in their line, and are cut. */
export function skippedRun(ref: RunRef, remove: string): string {
  const [run, workflow] = [ref.run, ref.workflow].map((name) => name.slice(0, SHOWN_MAX).replaceAll(/[\p{C}\s]+/gu, ' '));
  return `run ${run} of ${workflow} is not read: its id is a time that no clock shows; remove ${remove}`;
}

/** Returns `ENOENT`, `ENOSPC`, …; undefined when it isn't an error of the system. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

const TRANSIENT: ReadonlySet<string | undefined> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EBUSY', 'EIO', 'ESTALE', 'ETIMEDOUT']);

/** Returns whether the system lacks something now, or the disk has failed: nothing follows from such an error about what was asked for. */
export function isTransient(error: unknown): boolean {
  return TRANSIENT.has(codeOf(error));
}

const ERRORS: { readonly [systemCode: string]: readonly [code: string, hint: string] } = {
  ENOSPC: ['JOURNAL_DISK_FULL', 'Free some space. Results that were recorded before this are safe.'],
  EDQUOT: ['JOURNAL_DISK_FULL', 'The quota is used up. Results that were recorded before this are safe.'],
  EACCES: ['JOURNAL_NOT_WRITABLE', 'Check who owns the .mlld folder and its permissions.'],
  EPERM: ['JOURNAL_NOT_WRITABLE', 'Check who owns the .mlld folder and its permissions.'],
  EROFS: ['JOURNAL_NOT_WRITABLE', 'The project lies on a read-only file system.'],
  EEXIST: ['JOURNAL_NOT_A_FOLDER', 'A file is in the place where the journal needs a folder: move it away.'],
  ENOTDIR: ['JOURNAL_NOT_A_FOLDER', 'A file is in the place where the journal needs a folder: move it away.'],
};

/** Leaves out the system call and the path behind the system's words where `doing` names that path. */
function reasonOf(error: Error, doing: string): string {
  if (!('path' in error) || typeof error.path !== 'string' || !doing.includes(error.path)) return error.message;
  return error.message.replace(`, ${'syscall' in error ? String(error.syscall) : ''} '${error.path}'`, '');
}

/** Turns an error of the system into one for people. `doing` completes "can't …". */
export function journalError(error: unknown, doing: string): JournalError {
  if (error instanceof JournalError) return error;
  const [code, hint] = ERRORS[codeOf(error) ?? ''] ?? ['JOURNAL_IO', undefined];
  const reason = error instanceof Error ? reasonOf(error, doing) : String(error);
  return new JournalError(code, `can't ${doing}: ${reason}`, { cause: error, ...(hint === undefined ? {} : { hint }) });
}
