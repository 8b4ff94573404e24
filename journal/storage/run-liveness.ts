/**
 * Tells whether a run's writer still lives. A run is written by the process that created it and never reopened, so its lock guards
 * nothing: it is there for others to ask. The process is told from later ones of its number by its start and its boot (`processes.ts`).
 */
import { kill, pid } from 'node:process';
import { writeAll, type Disk } from './disk.js';
import { codeOf } from '../errors.js';
import { bootId, processStatus } from './processes.js';

interface Holder {
  readonly pid: number;
  /** Ticks between boot and the start of the process; empty where there is no `/proc`. */
  readonly started: string;
  /** Empty where there is no `/proc`. */
  readonly boot: string;
}

/** Throws EEXIST when there is one. `onCreated` is called as soon as there is a file to remove again. */
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

/** What stands in the lock of a living process: this one. */
export function thisProcess(): Uint8Array {
  return Buffer.from(JSON.stringify({ pid, started: startOf(pid) ?? '', boot: bootId() } satisfies Holder));
}

export async function isAlive(disk: Disk, path: string): Promise<boolean> {
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

/** Undefined for one that was killed, too: it will not write again. */
function startOf(processId: number): string | undefined {
  const status = processStatus(processId);
  return status?.isDead === false ? status.started : undefined;
}

function answersSignals(processId: number): boolean {
  try {
    kill(processId, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM'; // it lives, as someone else's
  }
}
