/**
 * Makes the files in which programs report about the call that they belong to (calls.md 9.3): one for each attempt, in the temporary
 * folder, readable by this user only. Their names hold the process id, so that the files of a killed run are recognised.
 */
import { closeSync, lstatSync, openSync, readdirSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomDigits } from '../host.js';

const NAME = /^mlld-call-(\d+)-[0-9a-z]+\.jsonl$/;

/** A report is a few lines; a program that fills the file must not fill the memory. */
const REPORT_BYTES_MAX = 1 << 20;

export interface TakenReport {
  readonly text: string;
  /** The file was too large: these are its last lines. */
  readonly isCut?: true;
}

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
   * Returns the contents of the file and removes it; undefined when a program has removed it or put something else in its place. A pipe
   * there would be waited for until something writes to it.
   */
  take(file: string): TakenReport | undefined {
    try {
      const found = lstatSync(file);
      if (!found.isFile()) return undefined;
      return found.size <= REPORT_BYTES_MAX ? { text: readFileSync(file, 'utf8') } : { text: lastLines(file, found.size), isCut: true };
    } catch {
      return undefined; // the caller warns of it
    } finally {
      remove(file);
    }
  }
}

/** Returns the lines in the last bytes of the file, without the one that is cut at their beginning. */
function lastLines(file: string, bytes: number): string {
  const buffer = Buffer.alloc(REPORT_BYTES_MAX);
  const descriptor = openSync(file, 'r');
  try {
    const read = readSync(descriptor, buffer, 0, REPORT_BYTES_MAX, bytes - REPORT_BYTES_MAX);
    const text = buffer.toString('utf8', 0, read);
    return text.slice(text.indexOf('\n') + 1 || text.length);
  } finally {
    closeSync(descriptor);
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
