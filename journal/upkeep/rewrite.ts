/**
 * Changes members of events that are recorded already. All else in the journal only appends.
 *
 * REWRITE-1 Lines that don't change are copied byte for byte, damaged ones too.
 * REWRITE-2 A changed line keeps its hash and says that it was changed (CODEC-3), so that its successor still follows.
 * REWRITE-3 The run's file is replaced by rename once the new one is durable: a crash leaves the old one or the new one.
 *    A run of several segments is first joined into one file, with the same bytes.
 * REWRITE-4 Positions in a rewritten run differ from before, so the caller must discard what remembers them. The run must have no writer.
 */
import { randomBytes } from 'node:crypto';
import { CHAIN_SEED, encodeTombstone, PREDECESSOR_BYTES } from '../codec.js';
import { produceDurably, realDisk, writeAll, type Disk } from '../storage/disk.js';
import { codeOf, journalError } from '../errors.js';
import type { JournalEvent, Redacted } from '../event.js';
import type { RunRef } from '../ids.js';
import { journalFolder, runPath } from '../storage/layout.js';
import { scanFile } from '../reader.js';
import { joinSegments, RunBytes } from '../segments.js';
import type { Position, ScanOptions } from '../store.js';

/** Returns the changed event, or undefined to keep it. Must not change `seq`, `type`, `key`, `op`, `ts` and `hash`. */
export type Edit = (event: JournalEvent) => JournalEvent | undefined;

const COPY_BYTES = 1024 * 1024;

interface Change {
  readonly position: Position;
  readonly event: JournalEvent;
}

/** Does what `Keeper.rewriteRun` says. `root` is the project's folder. Rejects with `JournalError` when the disk fails. */
export async function rewriteRun(
  root: string,
  ref: RunRef,
  edit: Edit,
  because: Redacted,
  disk: Disk = realDisk,
  options: Pick<ScanOptions, 'onDefect'> = {},
): Promise<number> {
  const journal = journalFolder(root);
  const path = runPath(journal, ref);
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    // Joined first: what is removed must not be left behind in a segment that isn't read any more.
    await joinSegments(disk, path, temporary);
    const changes = await changesOf(disk, path, ref, edit, options);
    if (changes.length === 0) return 0;
    await produceDurably(disk, path, temporary, (made) => writeLines(disk, path, (bytes) => writeAll(disk, made, bytes), changes, because));
    return changes.length;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    throw journalError(error, `rewrite run ${ref.run}`);
  }
}

/** Returns the lines of a run as an edit would leave them, for a copy of it; the run is not changed. */
export async function editedLines(root: string, ref: RunRef, edit: Edit, because: Redacted, disk: Disk = realDisk): Promise<Uint8Array> {
  const path = runPath(journalFolder(root), ref);
  const parts: Uint8Array[] = [];
  try {
    const changes = await changesOf(disk, path, ref, edit);
    writeLines(disk, path, (bytes) => void parts.push(Uint8Array.from(bytes)), changes, because);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    throw journalError(error, `read run ${ref.run}`);
  }
  return Buffer.concat(parts);
}

async function changesOf(disk: Disk, path: string, ref: RunRef, edit: Edit, options?: ScanOptions): Promise<readonly Change[]> {
  const changes: Change[] = [];
  const visit = (event: JournalEvent, position: Position): void => {
    const changed = edit(event);
    if (changed !== undefined) changes.push({ position, event: changed });
  };
  await scanFile(disk, path, ref, visit, options);
  return changes;
}

function writeLines(disk: Disk, path: string, write: (bytes: Uint8Array) => void, changes: readonly Change[], because: Redacted): void {
  const run = RunBytes.open(disk, path);
  try {
    let copied = 0;
    for (const { position, event } of changes) {
      copyRange(run, write, copied, position.offset);
      write(Buffer.from(encodeTombstone({ ...event, redacted: because }, previousHash(run, position.offset)).text));
      copied = position.offset + position.bytes + 1;
    }
    copyRange(run, write, copied, run.size);
  } finally {
    run.close();
  }
}

function copyRange(run: RunBytes, write: (bytes: Uint8Array) => void, from: number, to: number): void {
  const buffer = Buffer.allocUnsafe(Math.min(COPY_BYTES, Math.max(to - from, 0)));
  for (let at = from; at < to;) {
    const count = run.read(buffer, 0, Math.min(buffer.length, to - at), at);
    if (count === 0) throw Object.assign(new Error('EIO: the file is shorter than it was'), { code: 'EIO' });
    write(buffer.subarray(0, count));
    at += count;
  }
}

/** Reads the hash from the file: it may be that of a damaged line. */
function previousHash(run: RunBytes, offset: number): string {
  if (offset === 0) return CHAIN_SEED;
  const before = Buffer.alloc(PREDECESSOR_BYTES);
  for (let filled = 0; filled < before.length;) {
    const count = run.read(before, filled, before.length - filled, offset - before.length + filled);
    if (count === 0) throw Object.assign(new Error('EIO: the file is shorter than it was'), { code: 'EIO' });
    filled += count;
  }
  return before.toString('latin1', 0, CHAIN_SEED.length);
}
