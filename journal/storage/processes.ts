/**
 * Distinguishes a process from a later one with the same number. A process id alone would mislead after a reboot or once it is reused;
 * with the time the process started (in ticks since boot) and the boot's own id it doesn't. Knows Linux's `/proc` and nothing else.
 */
import fs from 'node:fs';
import { isTransient, journalError } from '../errors.js';

export interface ProcessStatus {
  /** The process was killed, and its parent hasn't waited for it yet: it does nothing any more. */
  readonly isDead: boolean;
  readonly group: number;
  /** Ticks between boot and the start of the process. */
  readonly started: string;
}

/**
 * Undefined when there is no such process, or no `/proc`. Reads `/proc/PID/stat`, whose second field may hold spaces and parentheses.
 * Throws `JournalError` when the system can't say now, as with too many open files: a living process must not be taken for a dead one.
 */
export function processStatus(processId: number): ProcessStatus | undefined {
  const stat = readSystemFile(`/proc/${processId}/stat`);
  const [state, , group, ...fromSixth] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  const started = fromSixth[16];
  if (state === undefined || started === undefined) return undefined;
  return { isDead: state === 'Z' || state === 'X', group: Number(group), started };
}

let boot: string | undefined;

/** Returns an empty id where there is no `/proc`. Throws like `processStatus`. */
export function bootId(): string {
  return (boot ??= readSystemFile('/proc/sys/kernel/random/boot_id')?.trim() ?? '');
}

function readSystemFile(path: string): string | undefined {
  try {
    return fs.readFileSync(path, 'latin1');
  } catch (error) {
    if (isTransient(error)) throw journalError(error, `read ${path}`);
    return undefined;
  }
}
