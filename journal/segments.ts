/**
 * Reads the files of a run as one. Mostly a run has one file, `<run-id>.ndjson`. A writer that can't continue its file writes the next
 * segment, `<run-id>.2.ndjson`. Its first line, the head, says at which byte of the run it begins, and the hash of the line that ends
 * there:
 *
 *   {"v":1,"segment":2,"from":4096,"hash":"…"}
 *
 * SEGMENT-1 The bytes of a run are those of its first file up to where segment 2 begins, of that up to where segment 3 begins, and so
 *    on. Bytes of an earlier file behind that offset aren't read: a torn line there is no damage, and a line that is in both counts once.
 * SEGMENT-2 A segment appears under its name by rename, once it holds and has synced all that was acknowledged and isn't durable in the
 *    files before it. A kill before the rename leaves the run as the earlier files hold it, and a `.tmp` that means nothing; a kill
 *    behind it, the run as the segment continues it.
 * SEGMENT-3 Numbers have no gaps: the first that is missing ends the search.
 * SEGMENT-4 The head ends like the line before `from` ends (`PREDECESSOR_BYTES`), so the first line of a segment is verified without
 *    looking into another file.
 */
import { dirname } from 'node:path';
import { CHAIN_SEED, PREDECESSOR_BYTES } from './codec.js';
import { produceDurably, writeAll, type Disk } from './storage/disk.js';
import { codeOf } from './errors.js';

const SUFFIX = '.ndjson';
const HEAD_BYTES_MAX = 256;
const HEAD = /^\{"v":1,"segment":(\d{1,6}),"from":(\d{1,15}),"hash":"([0-9a-f]{64})"\}\n/;

/** `path` is that of the run's first file. */
export const segmentPath = (path: string, segment: number): string =>
  segment === 1 ? path : `${path.slice(0, -SUFFIX.length)}.${segment}${SUFFIX}`;

const SEGMENT_NAME = /^(?<run>\d{8}-\d{6}-\d{3}-[0-9a-z]{4})\.(?<segment>[1-9]\d{0,5})\.ndjson$/;

/** Returns the name of the first file of the run that a later segment belongs to; undefined for every other file. */
export function firstFileOf(fileName: string): string | undefined {
  const run = SEGMENT_NAME.exec(fileName)?.groups?.['run'];
  return run === undefined ? undefined : run + SUFFIX;
}

/** Returns the name of the file before a later segment, without which that isn't read; undefined for every other file. */
export function fileBefore(fileName: string): string | undefined {
  const { run, segment } = SEGMENT_NAME.exec(fileName)?.groups ?? {};
  return run === undefined ? undefined : segmentPath(run + SUFFIX, Number(segment) - 1);
}

export function headOf(segment: number, from: number, hash: string): Uint8Array {
  return Buffer.from(`{"v":1,"segment":${segment},"from":${from},"hash":"${hash}"}\n`);
}

interface Part {
  readonly file: number;
  /** The offset in the run at which its lines begin. */
  readonly from: number;
  /** The offset in the file at which its lines begin. */
  readonly head: number;
  /** The hash of the line before. */
  readonly hash: string;
}

/** A range of a run that no file holds any more. */
export interface Gap {
  readonly to: number;
  /** The hash of the line that ended at `to`. */
  readonly hash: string;
}

/** Reads a run as if it were one file. */
export class RunBytes {
  /** Ordered by number. */
  private readonly parts: Part[] = [];

  private constructor(
    private readonly disk: Disk,
    /** The reason why a segment that exists isn't used, nor those behind it. */
    readonly problem: string | undefined,
  ) {}

  /** `isWhole`: the caller knows that there are no further segments. Throws what the disk throws for the first file. */
  static open(disk: Disk, path: string, isWhole = false): RunBytes {
    const parts: Part[] = [{ file: disk.openToRead(path), from: 0, head: 0, hash: CHAIN_SEED }];
    let problem: string | undefined;
    for (let segment = 2; !isWhole && problem === undefined; segment++) {
      let file: number | undefined;
      try {
        file = disk.openToRead(segmentPath(path, segment));
        const part = readHead(disk, file, segment);
        if (part) parts.push(part);
        else throw Object.assign(new Error('its first line is damaged'), { code: 'EHEAD' });
      } catch (error) {
        if (file !== undefined) disk.close(file);
        if (codeOf(error) === 'ENOENT') break;
        problem = `segment ${segment} can't be read: ${(error as Error).message}`;
      }
    }
    const bytes = new RunBytes(disk, problem);
    bytes.parts.push(...parts);
    return bytes;
  }

  get size(): number {
    const { file, from, head } = this.parts.at(-1) as Part; // there is a first one
    return from + Math.max(0, this.disk.sizeOf(file) - head);
  }

  /** May read less than `length`; 0 at the end, and before a gap. */
  read(into: Uint8Array, start: number, length: number, position: number): number {
    const { part, end } = this.at(position);
    return this.disk.read(part.file, into, start, Math.min(length, end - position), position - part.from + part.head);
  }

  /** Returns the gap that begins at a position where nothing could be read; undefined at the end of the run. */
  gapAt(position: number): Gap | undefined {
    const { next } = this.at(position);
    return next && { to: next.from, hash: next.hash };
  }

  close(): void {
    for (const { file } of this.parts) this.disk.close(file);
  }

  /** SEGMENT-1, SEGMENT-4: a later segment holds also the end of the line before it. */
  private at(position: number): { readonly part: Part; readonly end: number; readonly next: Part | undefined } {
    let next: Part | undefined;
    let end = Infinity;
    for (let index = this.parts.length - 1; index > 0; index--) {
      const part = this.parts[index] as Part;
      const begin = Math.max(0, part.from - PREDECESSOR_BYTES);
      if (position >= begin) return { part, end, next };
      if (begin < end) [next, end] = [part, begin];
    }
    return { part: this.parts[0] as Part, end, next };
  }
}

function readHead(disk: Disk, file: number, segment: number): Part | undefined {
  const buffer = Buffer.alloc(HEAD_BYTES_MAX);
  let filled = 0;
  while (filled < buffer.length) {
    const count = disk.read(file, buffer, filled, buffer.length - filled, filled);
    if (count === 0) break;
    filled += count;
  }
  const [head, number, from, hash] = HEAD.exec(buffer.toString('latin1', 0, filled)) ?? [];
  if (head === undefined || hash === undefined || Number(number) !== segment) return undefined;
  return { file, from: Number(from), head: head.length, hash };
}

/** Counts the files of a run. Throws what the disk throws. */
export function countSegments(disk: Disk, path: string): number {
  for (let segment = 1; ; segment++) {
    try {
      disk.close(disk.openToRead(segmentPath(path, segment + 1)));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return segment;
      throw error;
    }
  }
}

/** Finds the last file of a run, and where its lines begin: in the run (`from`) and in the file (`head`). Throws what the disk throws. */
export function lastSegment(disk: Disk, path: string): { readonly segment: number; readonly from: number; readonly head: number } {
  const segment = countSegments(disk, path);
  if (segment === 1) return { segment, from: 0, head: 0 };
  const file = disk.openToRead(segmentPath(path, segment));
  try {
    const part = readHead(disk, file, segment);
    if (part === undefined) throw Object.assign(new Error('EIO: the first line of the segment is damaged'), { code: 'EIO' });
    return { segment, from: part.from, head: part.head };
  } finally {
    disk.close(file);
  }
}

/** Reads all bytes of a run. Throws what the disk throws, and an error of the system at a gap. */
export function readRunBytes(disk: Disk, path: string): Buffer {
  const run = RunBytes.open(disk, path);
  try {
    if (run.problem !== undefined) throw Object.assign(new Error(run.problem), { code: 'EIO' });
    const content = Buffer.allocUnsafe(run.size);
    let filled = 0;
    while (filled < content.length) {
      const count = run.read(content, filled, content.length - filled, filled);
      if (count === 0) throw Object.assign(new Error('EIO: a part of the run is missing'), { code: 'EIO' });
      filled += count;
    }
    return content;
  } finally {
    run.close();
  }
}

/**
 * Joins a run of several segments into its first file. The run must have no writer. A kill leaves several files: until the rename as they
 * were, then a first file with everything that the segments behind it repeat; without segment 2 (SEGMENT-3) the first file is the run.
 */
export async function joinSegments(disk: Disk, path: string, temporary: string): Promise<void> {
  const count = countSegments(disk, path);
  if (count === 1) return;
  await produceDurably(disk, path, temporary, (file) => writeAll(disk, file, readRunBytes(disk, path)));
  for (let segment = 2; segment <= count; segment++) {
    await disk.remove(segmentPath(path, segment));
    await disk.syncFolder(dirname(path));
  }
}
