/**
 * Reads one pack: knows its records, and puts blobs together from their parts. Bytes of a pack never make it throw, whatever they are.
 *
 * PACK-1 A pack is only appended to. A record is known once all of it is there; what follows the last one is torn, or being written.
 * PACK-2 A record with a damaged header costs itself and those that copy from it: the next record is searched for behind it.
 * PACK-3 A record copies only from records before it, so that there is an order in which every blob can be put together.
 */
import type { BlobId } from '../../ids.js';
import { HeaderReader, nextRecord, type FoundHeader, type PackBytes } from './header-reader.js';
import { PACKED_BYTES_MIN } from '../../payloads.js';
import { blobBytes, lengthOf, SHORT_BYTES_MAX, type Cut, type Header, type PackRecord } from './pack-record.js';
import { readContent } from './read-content.js';

/** A call may get more beside the history: a question, a number. */
const TAIL_BYTES_MAX = 512;
/** A shorter answer is in its line. */
const GROWTH_BYTES_MIN = PACKED_BYTES_MIN - TAIL_BYTES_MAX;

export const PACK_HEAD = '{"pack":1}\n';

export class Pack {
  private readonly byBlob = new Map<BlobId, PackRecord>();
  private readonly byOffset = new Map<number, PackRecord>();
  private readonly byFingerprint = new Map<string, { readonly record: PackRecord; readonly from: number }>();
  /** Only who stores blobs needs their fingerprints. */
  private readonly unindexed: PackRecord[] = [];
  private isWithShort = false;
  /** The end of the last record that is known. */
  private known = 0;
  private sizeSeen = 0;
  private isDoubtful = false;

  /** The end of the last record. */
  get end(): number {
    return this.known;
  }

  /** True when bytes follow the last record: a crash left them, or a writer is at work. */
  get isTorn(): boolean {
    return this.sizeSeen > this.known;
  }

  get records(): readonly PackRecord[] {
    return [...this.byOffset.values()];
  }

  find(blob: BlobId): PackRecord | undefined {
    return this.byBlob.get(blob);
  }

  get isEmpty(): boolean {
    return this.byOffset.size === 0;
  }

  /** True when probes of a short blob may be found in the next one. */
  get hasShort(): boolean {
    return this.isWithShort;
  }

  /** Takes up the fingerprints of the records that were added since. */
  index(cutsOf: (record: PackRecord) => readonly Cut[]): void {
    for (const record of this.unindexed.splice(0)) {
      this.isWithShort ||= record.bytes <= SHORT_BYTES_MAX;
      for (const [fingerprint, from] of cutsOf(record)) this.byFingerprint.set(fingerprint, { record, from });
    }
  }

  /** Returns the latest blob that is known to hold a chunk of this fingerprint, as of the last `index`. */
  holding(fingerprint: string): { readonly record: PackRecord; readonly from: number } | undefined {
    return this.byFingerprint.get(fingerprint);
  }

  /**
   * True for a blob that has another one as its beginning, but for the last few bytes of that, and then an answer's length more: the next
   * text of a conversation. Texts that have their instructions in common each end in another way.
   */
  hasGrown(blob: BlobId): boolean {
    const record = this.find(blob);
    let end = 0;
    for (const part of record?.parts ?? []) {
      end += lengthOf(part);
      if (typeof part === 'number' || record === undefined) continue;
      const [distance, from, length] = part;
      const { bytes } = this.source(record.at - distance);
      if (2 * length >= bytes && bytes - from - length <= TAIL_BYTES_MAX && record.bytes - end >= GROWTH_BYTES_MIN) return true;
    }
    return false;
  }

  /** Takes up the records that were appended since. */
  update(pack: PackBytes): void {
    if (pack.size < this.known || this.isDoubtful) this.forget();
    this.sizeSeen = pack.size;
    if (this.known === 0 && !this.isPack(pack)) return;
    const headers = new HeaderReader(pack);
    while (this.known < pack.size) {
      const header = headers.at(this.known);
      if (header === 'incomplete') return;
      if (header === 'damaged') {
        const next = nextRecord(pack, this.known + 1);
        if (next === undefined) return;
        this.known = next;
      } else if (header.end > pack.size) return;
      else this.add(header);
    }
  }

  /** Adds a record whose bytes are in the pack. */
  add({ header, ownAt, end }: FoundHeader): PackRecord {
    const { blob, parts, cuts } = header;
    const at = this.known;
    const depth = this.depthOf(at, parts);
    const record = { blob, parts, cuts, bytes: blobBytes(parts), at, ownAt, end, depth: depth ?? 0 };
    this.known = end;
    this.sizeSeen = Math.max(this.sizeSeen, end);
    if (depth === undefined) return record; // PACK-2
    this.byOffset.set(at, record);
    this.byBlob.set(blob, record);
    this.unindexed.push(record);
    return record;
  }

  /** Forgets all, so that the next update begins anew. */
  forget(): void {
    this.byBlob.clear();
    this.byOffset.clear();
    this.byFingerprint.clear();
    this.unindexed.splice(0);
    this.isWithShort = false;
    this.known = this.sizeSeen = 0;
    this.isDoubtful = false;
  }

  /** Lets the next update begin anew: something was not where this index says. */
  doubt(): void {
    this.isDoubtful = true;
  }

  /** Returns the bytes of a record, not verified; undefined when the pack doesn't hold them any more. */
  content(pack: PackBytes, record: PackRecord): Buffer | undefined {
    return readContent(pack, record, (at) => this.source(at));
  }

  private source(at: number): PackRecord {
    const record = this.byOffset.get(at);
    if (record === undefined) throw new Error(`no record at ${at} of a pack`); // `depthOf` has seen it
    return record;
  }

  /** Returns the length of the longest chain of copies; undefined when a part is copied from what isn't there (PACK-3). */
  private depthOf(at: number, parts: Header['parts']): number | undefined {
    let deepest = 0;
    for (const part of parts) {
      if (typeof part === 'number') continue;
      const source = this.byOffset.get(at - part[0]);
      if (source === undefined || part[1] + part[2] > source.bytes) return undefined;
      deepest = Math.max(deepest, source.depth + 1);
    }
    return deepest;
  }

  /** A pack of another version is left alone: it has no records. */
  private isPack(pack: PackBytes): boolean {
    const head = Buffer.alloc(PACK_HEAD.length);
    if (!pack.read(head, 0) || head.toString('latin1') !== PACK_HEAD) return false;
    this.known = head.length;
    return true;
  }
}
