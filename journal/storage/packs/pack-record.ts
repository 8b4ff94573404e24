/**
 * Writes and reads the header of a record. A pack is a file of records; each holds one blob, as copies of parts of blobs before it in the
 * same pack and as bytes of its own:
 *
 *   {"blob":"…","parts":[[distance,from,length],own,…],"cuts":"…from …from","check":"…"}   and a newline
 *   the own bytes   and a newline
 *
 * `blob` is the sha256 of the blob in base64url. A part `[distance,from,length]` is `length` bytes, from byte `from` on, of the blob whose
 * record begins `distance` bytes before this one. A part that is a number is so many of the own bytes. `cuts` names chunks of the blob by
 * four characters of their sha256, each followed by its place in the blob. Headers are short because there is one for every turn of a
 * conversation.
 *
 * RECORD-1 `check` covers the header, so the length of a record whose header is accepted can be trusted.
 * RECORD-2 The content of a record is verified against its blob's id by whoever reads it: bytes that look like a record and are none
 *    (a text may hold anything) can only be a blob that they really are.
 */
import { isDigest, type BlobId } from '../../ids.js';
import { sha256Hex } from '../../sha256.js';

/** A copy, or so many own bytes. */
export type Part = readonly [distance: number, from: number, length: number] | number;

export interface Header {
  readonly blob: BlobId;
  readonly parts: readonly Part[];
  /** To be read by `cutsOf`. */
  readonly cuts: string;
}

export interface PackRecord extends Header {
  /** The length of the blob. */
  readonly bytes: number;
  /** The offset of its header in the pack. */
  readonly at: number;
  /** The offset of its own bytes. */
  readonly ownAt: number;
  /** The offset behind its last newline. */
  readonly end: number;
  /** The length of the longest chain of copies that leads to its bytes. */
  readonly depth: number;
}

/** A longer header counts as damage; the writer stores what would need one as it is. */
export const HEADER_BYTES_MAX = 1024 * 1024;
export const PARTS_MAX = 4096;
/** Larger blobs are files of their own: a packed one is held in memory as a whole. */
export const PACKED_BYTES_MAX = 32 * 1024 * 1024;

/** A blob of so many bytes is looked for in longer ones (MATCH-3 of `match-parts.ts`). */
export const SHORT_BYTES_MAX = 16 * 1024;

/** Every record begins with it. */
export const RECORD_START = '{"blob":"';

/** Bytes are compared before they are copied, so a fingerprint only has to be rarely wrong. */
const FINGERPRINT_UNITS = 4;
const CHECK_UNITS = 6;
const ID_UNITS = 43;
const base64Of = (content: string | Uint8Array): string => Buffer.from(sha256Hex(content), 'hex').toString('base64url');
const endOf = (text: string): string => `,"check":"${base64Of(text).slice(0, CHECK_UNITS)}"}`;
const END_UNITS = endOf('').length;

export function fingerprintOf(chunk: Uint8Array): string {
  return base64Of(chunk).slice(0, FINGERPRINT_UNITS);
}

/** Names a chunk of a blob, and its place in it. */
export type Cut = readonly [fingerprint: string, from: number];

export function cutsOf({ cuts }: Header): Cut[] {
  const words = cuts === '' ? [] : cuts.split(' ');
  return words.map((word) => [word.slice(0, FINGERPRINT_UNITS), Number(word.slice(FINGERPRINT_UNITS))]);
}

export function textOfCuts(cuts: readonly Cut[]): string {
  return cuts.map(([fingerprint, from]) => fingerprint + from).join(' ');
}

/** Returns the line of a header, with its newline. */
export function encodeHeader({ blob, parts, cuts }: Header): string {
  const digest = Buffer.from(blob.slice('sha256:'.length), 'hex').toString('base64url');
  const text = JSON.stringify({ blob: digest, parts, cuts }).slice(0, -1);
  return `${text}${endOf(text)}\n`;
}

/** Returns the header of a line without its newline; undefined when it is none, or was changed. */
export function parseHeader(line: string): Header | undefined {
  const text = line.slice(0, -END_UNITS);
  if (line.length < END_UNITS || line.slice(-END_UNITS) !== endOf(text)) return undefined;
  try {
    const { blob, parts, cuts } = JSON.parse(`${text}}`) as { readonly [member in keyof Header]: unknown };
    if (typeof blob !== 'string' || blob.length !== ID_UNITS || typeof cuts !== 'string' || !areParts(parts)) return undefined;
    const id = `sha256:${Buffer.from(blob, 'base64url').toString('hex')}`;
    return isDigest(id) ? { blob: id, parts, cuts } : undefined;
  } catch {
    return undefined;
  }
}

export function lengthOf(part: Part): number {
  return typeof part === 'number' ? part : part[2];
}

/** Returns the length of the blob. */
export function blobBytes(parts: readonly Part[]): number {
  return parts.reduce<number>((sum, part) => sum + lengthOf(part), 0);
}

/** Returns the number of bytes that the record holds itself. */
export function ownBytes(parts: readonly Part[]): number {
  return parts.reduce<number>((sum, part) => sum + (typeof part === 'number' ? part : 0), 0);
}

function areParts(parts: unknown): parts is readonly Part[] {
  return Array.isArray(parts) && parts.every(isPart) && blobBytes(parts) <= PACKED_BYTES_MAX;
}

function isPart(part: unknown): part is Part {
  if (!Array.isArray(part)) return isCount(part) && part > 0;
  return part.length === 3 && part.every(isCount) && (part[2] as number) > 0;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
