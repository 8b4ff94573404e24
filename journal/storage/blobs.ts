/**
 * Large payloads, each in a file named after its content, shared by all runs. A blob is durable before the event that names it,
 * because `put` is awaited first. Verified on every read: content that doesn't match its name is never given out.
 */
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { exactJson, holdsNegativeZero, jsonSize, sha256 } from '../canonical.js';
import { createBlobWriter, type StoredBlob } from './blob-writer.js';
import { makeDurableFolder, writeDurably, type Disk } from './disk.js';
import { codeOf, journalError } from '../errors.js';
import type { Json, Payload } from '../event.js';
import type { Secrets } from '../secrets/keyring.js';
import { isDigest, type BlobId } from '../ids.js';
import { blobPath } from './layout.js';

/**
 * UTF-16 units of a payload that still goes into its event's line. A file costs a millisecond and a block of the disk, a line of
 * 4 KB four microseconds; but a scan reads every line and no blob.
 */
export const INLINE_MAX = 64 * 1024;

/**
 * UTF-16 units from which on a text is stored as it is: as JSON it grows, and one of some hundred megabytes could not be read again. Of
 * smaller ones programs of before read the JSON.
 */
const PLAIN_TEXT_MIN = 16 * 1024 * 1024;
/** UTF-8 has no bytes for it, JSON writes it. */
const LONE_SURROGATE = /\p{Cs}/u;
/** UTF-8 bytes. A string of V8 has at most so many units, whatever they are. */
export const TEXT_BYTES_MAX = 0x1fffffe8;

/** Which text the payload is that can't be made a string; undefined when it is none. */
export function textTooLarge(payload: Payload): StoredBlob | undefined {
  return 'blob' in payload && payload.text === true && payload.bytes > TEXT_BYTES_MAX ? payload : undefined;
}

export interface Blobs {
  putBlob(content: string | Uint8Array): Promise<StoredBlob>;
  getBlob(id: BlobId): Promise<Uint8Array | undefined>;
}

export function storePayload(blobs: Blobs, value: Json): Payload | Promise<Payload> {
  if (typeof value === 'string' && value.length >= PLAIN_TEXT_MIN && !LONE_SURROGATE.test(value)) return storeText(blobs, value);
  // The line of an event is written by `JSON.stringify`, which knows no -0.
  return jsonSize(value) <= INLINE_MAX && !holdsNegativeZero(value) ? { inline: value } : blobs.putBlob(exactJson(value));
}

async function storeText(blobs: Blobs, text: string): Promise<Payload> {
  if (Buffer.byteLength(text) > TEXT_BYTES_MAX) throw new RangeError('a text of more than 512 MiB in UTF-8 could not be read again');
  return { ...(await blobs.putBlob(text)), text: true };
}

/** Opens what is sealed: the keys, if there are any, and what the payload was sealed about. */
export interface Opening {
  readonly secrets: Secrets | undefined;
  readonly about: string;
}

export async function resolvePayload(blobs: Blobs, payload: Payload, opening: Opening): Promise<Json | undefined> {
  if (textTooLarge(payload)) return undefined;
  const content = 'blob' in payload ? await blobs.getBlob(payload.blob) : undefined;
  return resolveNow(() => content, payload, opening);
}

/** As `resolvePayload`, with blobs that are at hand. */
export function resolveNow(blob: (id: BlobId) => Uint8Array | undefined, payload: Payload, { secrets, about }: Opening): Json | undefined {
  if ('inline' in payload) return payload.inline;
  if (textTooLarge(payload)) return undefined;
  const content = 'blob' in payload ? blob(payload.blob) : 'sealed' in payload ? Buffer.from(payload.sealed, 'base64') : undefined;
  if (!content) return undefined; // not kept, or gone
  const keyId = 'keyId' in payload ? payload.keyId : undefined;
  if (keyId === undefined) {
    const text = Buffer.from(content.buffer, content.byteOffset, content.length).toString();
    return 'text' in payload ? text : parseOrNothing(text);
  }
  const text = secrets?.keyId === keyId ? secrets.unseal(content, about) : undefined;
  return text === undefined ? undefined : parseOrNothing(text);
}

export async function putBlob(disk: Disk, journal: string, content: string | Uint8Array): Promise<StoredBlob> {
  if (typeof content === 'string' && content.length >= PLAIN_TEXT_MIN) return putLongText(disk, journal, content);
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

/** Without a second copy of it in memory. */
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

/** As `getBlob`, without waiting. */
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

function parseOrNothing(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // a blob that isn't a payload: a source text
  }
}
