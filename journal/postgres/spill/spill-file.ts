/**
 * Keeps lines of a run on the own disk while the server does not take them: `.mlld/spill/<store id>/<run>.ndjson`, one head line and then
 * the lines themselves, which continue the run where the head says. team-store.md 4.4.
 *
 * SPILL-1 `append` resolves when its lines are on disk (fdatasync), and with them the names of file and folder. A kill before leaves a
 *    `.tmp` that means nothing, or a torn end: only lines that follow on each other count, and nobody has used what is behind them. A whole
 *    line that does not follow is no torn end: the file was changed (`isDamaged`), and what is behind that may have been paid for.
 * SPILL-2 The file is removed when the database has all of it. A kill before leaves lines that are there already: bringing them in again
 *    does nothing.
 * SPILL-3 The head names the process. The file of a living process is its own, and left alone.
 */
import { basename, dirname, join } from 'node:path';
import { codeOf, JournalError } from '../../errors.js';
import type { JournalEvent } from '../../event.js';
import type { RunRef } from '../../ids.js';
import { bufferOf, NEWLINE } from '../../lines/line-buffer.js';
import { makeDurableFolder, syncFile, writeAll, type Disk } from '../../storage/disk.js';
import { isOwnerAlive, thisProcess } from '../../storage/runs/run-liveness.js';
import { decodeLine } from '../read-rows.js';
import { hashOfLine, type Head } from '../lines.js';

/** `folder` is `.mlld/spill` of the project. */
export interface SpillPlace {
  readonly disk: Disk;
  readonly folder: string;
}

/** The run that the lines belong to, and the head that they follow on. */
export interface SpillHead {
  readonly store: string;
  readonly project: string;
  readonly ref: RunRef;
  readonly fence: number;
  readonly head: Head;
}

export interface SpilledLine {
  readonly offset: number;
  /** With its newline. */
  readonly bytes: Buffer;
  readonly hash: string;
  readonly event: JournalEvent;
}

export interface Spilled extends SpillHead {
  readonly path: string;
  readonly lines: readonly SpilledLine[];
  /** SPILL-1 */
  readonly isDamaged: boolean;
}

const SUFFIX = '.ndjson';

export class SpillFile {
  private file: number | undefined;
  /** The end of what is kept. A failed `append` leaves something behind it that the next one overwrites. */
  private size = 0;
  private readonly folder: string;
  private readonly path: string;

  constructor(
    private readonly disk: Disk,
    { folder }: Pick<SpillPlace, 'folder'>,
    private readonly head: SpillHead,
  ) {
    this.folder = join(folder, head.store);
    this.path = join(this.folder, head.ref.run + SUFFIX);
  }

  get isEmpty(): boolean {
    return this.size === 0;
  }

  /** SPILL-1. Rejects with what the disk throws; then none of the lines counts as kept. */
  async append(lines: readonly Uint8Array[]): Promise<void> {
    const pieces = [...lines];
    if (this.file === undefined) {
      await makeDurableFolder(this.disk, this.folder);
      await this.disk.remove(`${this.path}.tmp`).catch(() => undefined); // what a killed process has left, when the run is continued
      this.file = this.disk.create(`${this.path}.tmp`);
    }
    if (this.isEmpty) pieces.unshift(headLine(this.head));
    let end = this.size;
    for (const bytes of pieces) {
      writeAll(this.disk, this.file, bytes, end);
      end += bytes.length;
    }
    await syncFile(this.disk, this.file);
    if (this.isEmpty) {
      await this.disk.rename(`${this.path}.tmp`, this.path);
      await this.disk.syncFolder(this.folder);
    }
    this.size = end;
  }

  /** SPILL-2 */
  async remove(): Promise<void> {
    if (this.file === undefined) return;
    this.disk.close(this.file);
    this.file = undefined;
    await this.disk.remove(this.isEmpty ? `${this.path}.tmp` : this.path);
  }
}

/** False where nothing was ever spilled, for any store. */
export async function hasSpills({ disk, folder }: SpillPlace): Promise<boolean> {
  return (await namesIn(disk, folder)).length > 0;
}

async function namesIn(disk: Disk, folder: string): Promise<readonly string[]> {
  try {
    return await disk.list(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    throw error;
  }
}

/** Returns the paths of what processes have left here for this store. */
export async function spillsIn({ disk, folder }: SpillPlace, store: string): Promise<readonly string[]> {
  const within = join(folder, store);
  return (await namesIn(disk, within))
    .filter((name) => name.endsWith(SUFFIX))
    .sort()
    .map((name) => join(within, name));
}

/** Returns the paths of what was set aside here of these runs, for any store. */
export async function damagedSpillsOf({ disk, folder }: SpillPlace, runs: readonly RunRef[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const store of await namesIn(disk, folder)) {
    for (const name of await namesIn(disk, join(folder, store)))
      if (runs.some(({ run }) => name.startsWith(`${run}${SUFFIX}.damaged`))) found.push(join(folder, store, name));
  }
  return found.sort();
}

/** Undefined for the file of a living process (SPILL-3), or one that is gone. Throws STORE_SPILL_DAMAGED. */
export async function readSpill(disk: Disk, path: string): Promise<Spilled | undefined> {
  let content: Buffer;
  try {
    content = bufferOf(await disk.readWhole(path));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw damaged(
      `${path} can't be read: ${(error as Error).message}`,
      'make it readable, or move it away to go on without what it holds',
      error,
    );
  }
  const end = content.indexOf(NEWLINE);
  const { owner, ...head } = headIn(content.toString('utf8', 0, Math.max(0, end)), path);
  if (isOwnerAlive(owner)) return undefined;
  const lines = linesIn(content, end + 1, head.head);
  const read = lines.reduce((sum, { bytes }) => sum + bytes.length, end + 1);
  return { ...head, path, lines, isDamaged: content.includes(NEWLINE, read) };
}

/**
 * Takes a damaged file out of the way of later commands, beside those that were damaged before, and returns the error that says where it is
 * now. A kill before leaves it where it was.
 */
export async function setAside(disk: Disk, { path, lines }: Spilled): Promise<JournalError> {
  const names = new Set(await disk.list(dirname(path)));
  let kept = `${path}.damaged`;
  for (let n = 2; names.has(basename(kept)); n++) kept = `${path}.damaged-${n}`;
  await disk.rename(path, kept);
  const what = `line ${lines.length + 2} of ${kept} and those behind it can't be brought in; those before are`;
  return damaged(what, 'it was changed by another program; remove it when nobody needs it');
}

/** Those up to the first that does not follow on the one before it. */
function linesIn(content: Buffer, from: number, head: Head): SpilledLine[] {
  const lines: SpilledLine[] = [];
  let { hash, offset } = head;
  for (let start = from, end = 0; (end = content.indexOf(NEWLINE, start) + 1) > 0; start = end) {
    const text = content.toString('utf8', start, end - 1);
    const event = decodeLine(text, hash);
    if (typeof event === 'string') break;
    hash = hashOfLine(text);
    lines.push({ offset, bytes: content.subarray(start, end), hash, event });
    offset += end - start;
  }
  return lines;
}

function headLine(head: SpillHead): Buffer {
  return Buffer.from(`${JSON.stringify({ ...head, owner: JSON.parse(Buffer.from(thisProcess()).toString()) as unknown })}\n`);
}

function headIn(text: string, path: string): SpillHead & { readonly owner: unknown } {
  try {
    const head = JSON.parse(text) as SpillHead & { readonly owner: unknown };
    if (isHead(head)) return head;
  } catch {
    // reported below
  }
  const what = `the first line of ${path} does not say which run the lines behind it continue`;
  throw damaged(what, 'it was changed by another program; move it away to go on without what it holds');
}

function isHead({ project, ref, fence, head }: SpillHead): boolean {
  const { offset, hash } = head;
  return [project, ref.workflow, ref.run, hash].every(isName) && [fence, offset].every(Number.isSafeInteger);
}

/** A text that the database takes. */
function isName(text: unknown): boolean {
  return typeof text === 'string' && !text.includes('\0');
}

function damaged(what: string, hint: string, cause?: unknown): JournalError {
  return new JournalError('STORE_SPILL_DAMAGED', what, { hint, cause });
}
