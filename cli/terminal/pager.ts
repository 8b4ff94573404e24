/** Shows a report that is longer than the terminal in the pager of the user. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Io } from './io.js';

/** Ends at once where the text fits after all, leaves it on the screen, and shows colours. */
const LESS = 'FRX';
/** The shell reports so that there is no such program, or that it can't be started. */
const NOT_STARTED: readonly (number | null)[] = [126, 127];

/**
 * Runs `work` with an `Io` that keeps what is printed, and shows it afterwards: in the pager where it is longer than the terminal, else as
 * it is. What was printed before an error is shown as well. Without a terminal, or where the user wants no pager, nothing is kept.
 */
export async function withPager<T>(io: Io, work: (io: Io) => Promise<T>): Promise<T> {
  const pager = pagerOf(io.environment);
  const { page } = io;
  if (page === undefined || pager === undefined) return work(io);
  const kept: string[] = [];
  try {
    return await work({ ...io, stdout: (text) => void kept.push(text) });
  } finally {
    const text = kept.join('');
    if (text !== '' && !(isLongerThan(text, page.rows()) && (await show(io, text, pager)))) io.stdout(text);
  }
}

/** `PAGER`; empty or `cat`: none. Without one, `less` where it is installed. */
function pagerOf({ PAGER: pager, PATH: folders = '' }: Io['environment']): string | undefined {
  if (pager === undefined)
    return folders.split(path.delimiter).some((folder) => existsSync(path.join(folder, 'less'))) ? 'less' : undefined;
  return pager.trim() === '' || pager.trim() === 'cat' ? undefined : pager;
}

function isLongerThan(text: string, rows: number): boolean {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0 && lines < rows; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines >= rows;
}

/** Resolves to false when nothing was shown, because the pager could not be started. `PAGER` is a command line, as elsewhere. */
async function show({ environment, page }: Io, text: string, pager: string): Promise<boolean> {
  const child = spawn(pager, { shell: true, stdio: ['pipe', 'inherit', 'inherit'], env: { LESS, ...environment } });
  const takeInterrupts = page?.leaveInterrupts();
  try {
    child.stdin.on('error', () => undefined); // the user has seen enough before all of it was read
    child.stdin.end(page?.harmless(text));
    const [code] = (await once(child, 'close')) as [number | null];
    return !NOT_STARTED.includes(code);
  } catch {
    return false; // there is no shell
  } finally {
    takeInterrupts?.();
  }
}
