/** The processes of this machine that do something: what tests look for that were left behind. */
import { execFile } from 'node:child_process';

export interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  readonly line: string;
}

/** The words of a command may take some megabytes, and all processes of the machine are listed. */
const LISTING_BYTES_MAX = 256 * 1024 * 1024;

export async function processList(): Promise<readonly ListedProcess[]> {
  const listing = await new Promise<string>((resolve, reject) =>
    execFile('ps', ['-A', '-o', 'pid=,ppid=,stat=,args='], { maxBuffer: LISTING_BYTES_MAX }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    ),
  );
  return listing.split('\n').flatMap((row) => {
    const [, pid, parent, state, line] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.+)$/.exec(row) ?? [];
    return state === undefined || state.startsWith('Z') ? [] : [{ pid: Number(pid), parent: Number(parent), line: line ?? '' }];
  });
}
