/**
 * Tells whether a run's writer still lives. A run is written by the process that created it and never reopened, so its lock guards
 * nothing: it is there for others to ask. A process id alone would lie after a reboot or once it is given out again; with the time
 * the process started (in ticks since boot) and the boot's own id it doesn't.
 */
import fs from 'node:fs';
import { kill, pid } from 'node:process';
import { writeAll, type Disk } from './disk.js';
import { codeOf } from './errors.js';

interface Holder {
  readonly pid: number;
  /** Ticks between boot and the start of the process; empty where there is no `/proc`. */
  readonly started: string;
  /** Empty where there is no `/proc`. */
  readonly boot: string;
}

/** Throws EEXIST when there is one. `onCreated` is called as soon as there is a file to remove again. */
export function takeLock(disk: Disk, path: string, onCreated: () => void): void {
  const file = disk.create(path);
  onCreated();
  try {
    const text = holderOfThisProcess();
    writeAll(disk, file, text);
  } finally {
    disk.close(file);
  }
}

/** What stands in the lock of a living process: this one. */
export function holderOfThisProcess(): Uint8Array {
  return Buffer.from(JSON.stringify({ pid, started: startOf(pid) ?? '', boot: bootId() } satisfies Holder));
}

export async function isHeld(disk: Disk, path: string): Promise<boolean> {
  const holder = await readHolder(disk, path);
  if (!holder || holder.boot !== bootId()) return false;
  if (holder.started !== '') return startOf(holder.pid) === holder.started;
  return answersSignals(holder.pid);
}

async function readHolder(disk: Disk, path: string): Promise<Holder | undefined> {
  try {
    const found = JSON.parse((await disk.readWhole(path)).toString()) as Partial<Holder> | null;
    if (typeof found?.pid !== 'number' || typeof found.started !== 'string' || typeof found.boot !== 'string') return undefined;
    return { pid: found.pid, started: found.started, boot: found.boot };
  } catch {
    return undefined; // no lock, or one that was cut off by a crash: nobody holds it
  }
}

/** From `/proc/PID/stat`, whose second field, the name of the program, may hold spaces and parentheses. */
function startOf(processId: number): string | undefined {
  const stat = readSystemFile(`/proc/${processId}/stat`);
  const fromThird = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fromThird?.[0];
  // Killed, but its parent hasn't asked yet: it will not write again.
  if (state === 'Z' || state === 'X') return undefined;
  return fromThird?.[19];
}

function bootId(): string {
  return readSystemFile('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

function readSystemFile(path: string): string | undefined {
  try {
    return fs.readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}

function answersSignals(processId: number): boolean {
  try {
    kill(processId, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM'; // it lives, as someone else's
  }
}
