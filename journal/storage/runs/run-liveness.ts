/**
 * Records that a run's writer is alive, for other processes to look up. A run is written only by the process that created it, so its
 * `.lock` file locks nothing. A later process with the same number is recognised by its start and its boot (`processes.ts`).
 */
import { kill, pid } from 'node:process';
import { writeAll, type Disk } from '../disk.js';
import { codeOf, isTransient, journalError } from '../../errors.js';
import { bufferOf } from '../../lines/line-buffer.js';
import { bootId, processStatus } from '../processes.js';

interface Owner {
  readonly pid: number;
  /** The ticks between boot and the start of the process; empty where there is no `/proc`. */
  readonly started: string;
  /** The id of the boot; empty where there is no `/proc`. */
  readonly boot: string;
}

/** Throws EEXIST when there is a lock. `onCreated` is called as soon as there is a file to remove again. */
export function markAlive(disk: Disk, path: string, onCreated: () => void): void {
  const file = disk.create(path);
  onCreated();
  try {
    const text = thisProcess();
    writeAll(disk, file, text);
  } finally {
    disk.close(file);
  }
}

/** A file that can't be removed says nothing wrong: readers ask first whether the run has ended, and then whether its process lives. */
export async function unmark(disk: Disk, path: string): Promise<void> {
  await disk.remove(path).catch(() => undefined);
}

let own: Uint8Array | undefined;

/** Returns the content of a lock that this process owns. Throws like `processStatus`: without its start, others would take it for dead. */
export function thisProcess(): Uint8Array {
  return (own ??= Buffer.from(JSON.stringify({ pid, started: startOf(pid) ?? '', boot: bootId() } satisfies Owner)));
}

/**
 * False also where there is no lock, and for one that this user may not read. Throws `JournalError` when the system can't say now: a run
 * that counted as dead could be deleted or continued while its process lives.
 */
export async function isAlive(disk: Disk, path: string): Promise<boolean> {
  let lock: Uint8Array;
  try {
    lock = await disk.readWhole(path);
  } catch (error) {
    if (isTransient(error)) throw journalError(error, `tell whether a run is in flight, by ${path}`);
    return false;
  }
  return isOwnerAlive(ownerIn(lock));
}

/** Says what is known of the process that owns a lock. */
export async function ownerOf(disk: Disk, path: string): Promise<'none' | 'alive' | 'dead' | 'unreadable'> {
  try {
    return isOwnerAlive(ownerIn(await disk.readWhole(path))) ? 'alive' : 'dead';
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? 'none' : 'unreadable';
  }
}

/** Undefined for a lock that a power cut has cut off: it belongs to a dead process. */
function ownerIn(lock: Uint8Array): unknown {
  const text = bufferOf(lock).toString();
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `owner` is what `thisProcess` returned in some process, as JSON; anything else is nobody. Throws like `processStatus`. */
export function isOwnerAlive(owner: unknown): boolean {
  const { pid: processId, started, boot } = (owner ?? {}) as Partial<Owner>;
  if (typeof processId !== 'number' || typeof started !== 'string' || boot !== bootId()) return false;
  return started === '' ? acceptsSignals(processId) : startOf(processId) === started;
}

/** Returns undefined also for a process that was killed: it will not write again. */
function startOf(processId: number): string | undefined {
  const status = processStatus(processId);
  return status?.isDead === false ? status.started : undefined;
}

function acceptsSignals(processId: number): boolean {
  try {
    kill(processId, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM'; // it is alive and belongs to another user
  }
}
