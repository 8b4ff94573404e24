/** Makes payloads of values, and values of payloads: inline in the event's line up to a threshold, in a blob above it. */
import { jsonSize } from './canonical.js';
import { exactJson, holdsNegativeZero } from './exact-json.js';
import type { BlobId } from './ids.js';
import type { Secrets } from './secrets/sealing.js';
import type { StoredBlob } from './storage/blob-writer.js';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Data of an event: in its line up to a threshold, in a blob above it, or replaced because it may not be read. */
export type Payload =
  | { readonly inline: Json }
  /** With `keyId`, the bytes of the blob are sealed. */
  | {
      readonly blob: BlobId;
      readonly bytes: number;
      readonly keyId?: string;
      /** The blob is not JSON but the text itself, in UTF-8. It may be larger than a JavaScript string can be. */
      readonly text?: true;
    }
  /** AES-256-GCM, base64; `keyId` names the key, never holds it. */
  | { readonly sealed: string; readonly keyId: string }
  /** Replaces a secret that was not kept: the digest distinguishes equal from different ones. */
  | { readonly digest: string }
  /** Replaces what `journal redact` removed, and says why. */
  | { readonly redacted: string };

/**
 * UTF-16 units of the largest payload that is put into its event's line. A file costs a millisecond and a block of the disk, a line of
 * 4 KB four microseconds; but a scan reads every line and no blob.
 */
export const INLINE_MAX = 64 * 1024;

/**
 * UTF-16 units of the smallest text that is stored as it is: as JSON it grows, and one of some hundred megabytes could not be read
 * again. Older programs can read smaller ones, which are stored as JSON.
 */
const PLAIN_TEXT_MIN = 16 * 1024 * 1024;
/**
 * UTF-16 units of the smallest payload that goes into a pack when it continues another one. It costs a sync of the pack, where a line
 * costs none of its own, so shorter ones are in their lines (docs/decisions/0048-short-conversations.md).
 */
const CONTINUED_MIN = 6 * 1024;

/**
 * Bytes. A payload of so many or more shares space with payloads that repeat parts of it. Lines that name such a blob are of version 2, so
 * programs that can't read packs say that they don't know these lines (`docs/journal-format.md`). A smaller one would save little more than
 * its record in the pack takes.
 */
export const PACKED_BYTES_MIN = 1024;
/** UTF-8 can't encode it, JSON can. */
const LONE_SURROGATE = /\p{Cs}/u;
/** UTF-8 bytes. A string of V8 has at most so many units, whatever they are. */
export const TEXT_BYTES_MAX = 0x1fffffe8;

/** Returns the blob of a text that is too large to become a string; undefined for every other payload. */
export function textTooLarge(payload: Payload): StoredBlob | undefined {
  return 'blob' in payload && payload.text === true && payload.bytes > TEXT_BYTES_MAX ? payload : undefined;
}

export interface Blobs {
  putBlob(content: string | Uint8Array): Promise<StoredBlob>;
  packBlob(content: string): Promise<StoredBlob>;
  getBlob(id: BlobId): Promise<Uint8Array | undefined>;
  /** True for a text that `packBlob` would store as little more than its new end. Absent where texts share no space. */
  continues?(text: string): boolean;
  /** True for a packed blob that is an earlier one with a new end. Absent where blobs share no space. */
  hasGrown?(id: BlobId): boolean;
}

/** Says how a payload may repeat others, or be repeated, which decides its place. */
export interface PayloadUse {
  /** It may continue an earlier text, as the arguments and results of calls and the values of code do. */
  readonly mayContinue?: boolean;
  /** The arguments of the call that returned it: the answer in a conversation becomes a part of what the next call gets. */
  readonly answers?: Payload | undefined;
}

export function storePayload(blobs: Blobs, value: Json, { mayContinue, answers }: PayloadUse = {}): Payload | Promise<Payload> {
  if (typeof value === 'string' && value.length >= PLAIN_TEXT_MIN && !LONE_SURROGATE.test(value)) return storeText(blobs, value);
  // The line of an event is written by `JSON.stringify`, which knows no -0.
  const size = jsonSize(value);
  if (size > INLINE_MAX || holdsNegativeZero(value)) return blobs.packBlob(exactJson(value));
  const isAnswer = size >= PACKED_BYTES_MIN && answers && 'blob' in answers && blobs.hasGrown?.(answers.blob);
  if (isAnswer) return blobs.packBlob(exactJson(value));
  if (!mayContinue || size < CONTINUED_MIN || !blobs.continues) return { inline: value };
  const text = exactJson(value);
  return blobs.continues(text) ? blobs.packBlob(text) : { inline: value };
}

/** Tells whether a member of an event is a payload that may be in a pack. Sealed and plain texts are files of their own. */
export function mayBePacked(member: unknown): boolean {
  if (typeof member !== 'object' || member === null || !('blob' in member) || !('bytes' in member)) return false;
  return Number(member.bytes) >= PACKED_BYTES_MIN && !('keyId' in member) && !('text' in member);
}

async function storeText(blobs: Blobs, text: string): Promise<Payload> {
  if (Buffer.byteLength(text) > TEXT_BYTES_MAX) throw new RangeError('a text of more than 512 MiB in UTF-8 could not be read again');
  return { ...(await blobs.putBlob(text)), text: true };
}

/** Opens a sealed payload: has the keys, if there are any, and the call that the payload was sealed for. */
export interface Opening {
  readonly secrets: Secrets | undefined;
  readonly about: string;
}

/** Returns the value; undefined when it was not kept, is gone or damaged, is too large, or can't be unsealed. */
export async function resolvePayload(blobs: Blobs, payload: Payload, opening: Opening): Promise<Json | undefined> {
  if (textTooLarge(payload)) return undefined;
  const content = 'blob' in payload ? await blobs.getBlob(payload.blob) : undefined;
  return resolveNow(() => content, payload, opening);
}

/** Does what `resolvePayload` does with a blob that is read without waiting. */
export function resolveNow(
  getBlob: (id: BlobId) => Uint8Array | undefined,
  payload: Payload,
  { secrets, about }: Opening,
): Json | undefined {
  if ('inline' in payload) return payload.inline;
  if (textTooLarge(payload)) return undefined;
  const content = 'blob' in payload ? getBlob(payload.blob) : 'sealed' in payload ? Buffer.from(payload.sealed, 'base64') : undefined;
  if (!content) return undefined;
  const keyId = 'keyId' in payload ? payload.keyId : undefined;
  if (keyId === undefined) {
    const text = Buffer.from(content.buffer, content.byteOffset, content.length).toString();
    return 'text' in payload ? text : parseOrNothing(text);
  }
  const text = secrets?.keyId === keyId ? secrets.unseal(content, about) : undefined;
  return text === undefined ? undefined : parseOrNothing(text);
}

function parseOrNothing(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // a blob that isn't a payload: a source text
  }
}
