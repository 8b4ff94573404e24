/** Makes the record of a blob for the end of a pack. */
import type { BlobId } from '../../ids.js';
import { matchParts } from './match-parts.js';
import type { FoundHeader } from './header-reader.js';
import { encodeHeader, type PackRecord } from './pack-record.js';
import type { Pack } from './pack.js';

export interface EncodedRecord extends FoundHeader {
  readonly bytes: Buffer;
}

/** `contentOf` returns the bytes of a record of the pack; without it, the new record copies nothing. */
export function encodeRecord(
  content: Buffer,
  blob: BlobId,
  pack: Pack,
  contentOf: (record: PackRecord) => Buffer | undefined = () => undefined,
): EncodedRecord {
  const { parts, cuts, own } = matchParts(content, pack, contentOf);
  const header = { blob, parts, cuts };
  const line = Buffer.from(encodeHeader(header));
  const bytes = Buffer.concat([line, ...own, Buffer.from('\n')]);
  return { bytes, header, ownAt: pack.end + line.length, end: pack.end + bytes.length };
}
