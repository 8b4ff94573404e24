/**
 * Makes the files in which programs report about the call that they belong to (calls.md 9.3): one for each attempt, in the temporary
 * folder, readable by this user only. Their names hold the process id, so that the files of a killed run are recognised.
 */
import { lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomDigits } from '../host.js';

const NAME = /^mlld-call-(\d+)-[0-9a-z]+\.jsonl$/;

/** A report is a few lines; a program that fills the file must not fill the memory. */
const REPORT_BYTES_MAX = 1 << 20;

export class ReportFiles {
  private isSwept = false;

  /** Returns the path of a new, empty file. Throws when the temporary folder can't be written. */
  create(): string {
    const folder = tmpdir();
    if (!this.isSwept) {
      this.isSwept = true;
      removeStale(folder);
    }
    const file = path.join(folder, `mlld-call-${process.pid}-${randomDigits(12)}.jsonl`);
    writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
    return file;
  }

  /**
   * Returns the contents of the file and removes it; undefined when it is too large, or a program has removed it or put something else in
   * its place. A pipe there would be waited for until something writes to it.
   */
  take(file: string): string | undefined {
    try {
      const found = lstatSync(file);
      return found.isFile() && found.size <= REPORT_BYTES_MAX ? readFileSync(file, 'utf8') : undefined;
    } catch {
      return undefined; // the caller warns of it
    } finally {
      remove(file);
    }
  }
}

/** Removes the files of processes that have ended. */
function removeStale(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = NAME.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    remove(path.join(folder, name));
  }
}

function remove(file: string): void {
  try {
    rmSync(file, { force: true, recursive: true });
  } catch {
    // It is another user's, or another start removes it at this moment.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
