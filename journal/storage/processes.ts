/**
 * Tells one process from another that got its number later. A process id alone would lie after a reboot or once it is given out again;
 * with the time the process started (in ticks since boot) and the boot's own id it doesn't. Knows Linux's `/proc` and nothing else.
 */
import fs from 'node:fs';

export interface ProcessStatus {
  /** Killed, but its parent hasn't asked yet: it does nothing any more. */
  readonly isDead: boolean;
  readonly group: number;
  /** Ticks between boot and the start of the process. */
  readonly started: string;
}

/** From `/proc/PID/stat`, whose second field, the name of the program, may hold spaces and parentheses. Undefined: there is none, or no `/proc`. */
export function processStatus(processId: number): ProcessStatus | undefined {
  const stat = readSystemFile(`/proc/${processId}/stat`);
  const [state, , group, ...fromSixth] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  const started = fromSixth[16];
  if (state === undefined || started === undefined) return undefined;
  return { isDead: state === 'Z' || state === 'X', group: Number(group), started };
}

/** Empty where there is no `/proc`. */
export function bootId(): string {
  return readSystemFile('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

function readSystemFile(path: string): string | undefined {
  try {
    return fs.readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
