/**
 * Blobs that are files of their own, named by their digest and shared by all runs: sources, outputs, sealed results, and everything that
 * is too small or too large for a pack (`packs/`). A blob is durable before the event that names it, because `putBlob` is awaited
 * first. Verified on every read: bytes that don't match their name are never returned.
 */
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { sha256 } from '../canonical.js';
import { createBlobWriter, type StoredBlob } from './blob-writer.js';
import { makeDurableFolder, writeDurably, type Disk } from './disk.js';
import { codeOf, journalError } from '../errors.js';
import { isDigest, type BlobId } from '../ids.js';
import { blobPath } from './layout.js';

/** UTF-16 units. A longer text is written in pieces. */
const LONG_TEXT_MIN = 16 * 1024 * 1024;

export async function putBlob(disk: Disk, journal: string, content: string | Uint8Array): Promise<StoredBlob> {
  if (typeof content === 'string' && content.length >= LONG_TEXT_MIN) return putLongText(disk, journal, content);
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const blob = sha256(bytes);
  const path = blobPath(journal, blob);
  try {
    await makeDurableFolder(disk, dirname(path));
    if (await getBlob(disk, journal, blob)) {
      // It may have been renamed just now by a process that died before it synced the folder.
      await disk.syncFolder(dirname(path));
    } else {
      await writeDurably(disk, path, `${path}.${randomBytes(6).toString('hex')}.tmp`, bytes);
    }
  } catch (error) {
    throw journalError(error, `store a result of ${bytes.length} bytes`);
  }
  return { blob, bytes: bytes.length };
}

const PIECE_UNITS = 1024 * 1024;

/** Writes the text in pieces, so that there is no second copy of it in memory. */
async function putLongText(disk: Disk, journal: string, text: string): Promise<StoredBlob> {
  const writer = createBlobWriter(disk, journal);
  try {
    await makeDurableFolder(disk, journal);
    for (let at = 0, end = 0; at < text.length; at = end) {
      end = Math.min(at + PIECE_UNITS, text.length);
      if (isHighSurrogate(text.charCodeAt(end - 1)) && end < text.length) end++; // its partner
      writer.write(Buffer.from(text.slice(at, end)));
    }
  } catch (error) {
    await writer.discard();
    throw journalError(error, `store a text of ${text.length} characters`);
  }
  return writer.keep();
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

export async function getBlob(disk: Disk, journal: string, id: BlobId): Promise<Uint8Array | undefined> {
  if (!isDigest(id)) return undefined; // it came from a file and becomes a path
  try {
    const content = await disk.readWhole(blobPath(journal, id));
    return sha256(content) === id ? content : undefined;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}

/** Does what `getBlob` does, without waiting. */
export function getBlobNow(disk: Disk, journal: string, id: BlobId): Uint8Array | undefined {
  if (!isDigest(id)) return undefined;
  let file: number | undefined;
  try {
    file = disk.openToRead(blobPath(journal, id));
    const content = Buffer.allocUnsafe(disk.sizeOf(file));
    let filled = 0;
    while (filled < content.length) {
      const count = disk.read(file, content, filled, content.length - filled, filled);
      if (count === 0) return undefined;
      filled += count;
    }
    return sha256(content) === id ? content : undefined;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  } finally {
    if (file !== undefined) disk.close(file);
  }
}
