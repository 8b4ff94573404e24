/** Keeps packed blobs in memory, as a pack file would hold them. */
import { sha256 } from '../../canonical.js';
import type { BlobId } from '../../ids.js';
import { encodeRecord } from './encode-record.js';
import type { PackBytes } from './header-reader.js';
import { Pack, PACK_HEAD } from './pack.js';

export class MemoryPack {
  private readonly pack = new Pack();
  /** May be longer than what is used of it. */
  private bytes = Buffer.from(PACK_HEAD);

  constructor() {
    this.pack.update(this.opened());
  }

  store(content: Buffer): BlobId {
    const blob = sha256(content);
    if (this.pack.find(blob) !== undefined) return blob;
    const encoded = encodeRecord(content, blob, this.pack, (record) => this.pack.content(this.opened(), record));
    if (encoded.end > this.bytes.length) this.bytes = Buffer.concat([this.bytes], Math.max(encoded.end, 2 * this.bytes.length));
    encoded.bytes.copy(this.bytes, this.pack.end);
    this.pack.add(encoded);
    return blob;
  }

  hasGrown(blob: BlobId): boolean {
    return this.pack.hasGrown(blob);
  }

  content(blob: BlobId): Buffer | undefined {
    const record = this.pack.find(blob);
    return record && this.pack.content(this.opened(), record);
  }

  private opened(): PackBytes {
    return {
      size: this.pack.end || PACK_HEAD.length,
      read: (into, position) => this.bytes.copy(into, 0, position, position + into.length) === into.length,
    };
  }
}
