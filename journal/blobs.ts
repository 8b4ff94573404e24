/**
 * Large payloads, each in a file named after its content, shared by all runs. A blob is durable before the event that names it,
 * because `put` is awaited first. Verified on every read: content that doesn't match its name is never given out.
 */
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { jsonSize, sha256 } from './canonical.js';
import { codeOf, journalError, makeDurableFolder, writeDurably, type Disk } from './disk.js';
import type { Json, Payload } from './event.js';
import { isDigest, type BlobId } from './ids.js';
import { blobPath } from './layout.js';

/**
 * UTF-16 units of a payload that still goes into its event's line. A file costs a millisecond and a block of the disk, a line of
 * 4 KB four microseconds; but a scan reads every line and no blob.
 */
export const INLINE_MAX = 64 * 1024;

export interface StoredBlob {
  readonly blob: BlobId;
  readonly bytes: number;
}

export interface Blobs {
  putBlob(content: string | Uint8Array): Promise<StoredBlob>;
  getBlob(id: BlobId): Promise<Uint8Array | undefined>;
}

export async function storePayload(blobs: Blobs, value: Json): Promise<Payload> {
  return jsonSize(value) <= INLINE_MAX ? { inline: value } : await blobs.putBlob(JSON.stringify(value));
}

export async function resolvePayload(blobs: Blobs, payload: Payload): Promise<Json | undefined> {
  if ('inline' in payload) return payload.inline;
  if (!('blob' in payload)) return undefined; // sealed without a key, or not kept
  const content = await blobs.getBlob(payload.blob);
  return content && parseOrNothing(Buffer.from(content.buffer, content.byteOffset, content.length).toString());
}

export async function putBlob(disk: Disk, journal: string, content: string | Uint8Array): Promise<StoredBlob> {
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

function parseOrNothing(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // a blob that isn't a payload: a source text
  }
}
