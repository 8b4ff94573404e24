/**
 * Finds rows of an index where they are. A store without files of an index (`IndexFiles`) has all calls of a long past in the index itself:
 * unpacked, they would take ten times the memory, for the few that a start looks at.
 */
import type { CallKey } from '../../../journal/ids.js';
import type { Row } from '../tiers/row.js';
import type { RowsBelow } from '../tiers/tiered-map.js';
import { DIGEST, unpackKeys, type PackedRows } from './packed-rows.js';
import { unpackRows, type PackedReader } from './packed-reader.js';

const KEY_BYTES = 32;

export class RowsInIndex implements RowsBelow {
  private readonly digests: Buffer;
  /** A hash table of places, by the first bytes of the digests: 0 is free, else the place and one. */
  private readonly slots: Int32Array;
  private readonly within: ReadonlyMap<number, readonly CallKey[]>;
  private last: { readonly key: CallKey; readonly row: Row | undefined } | undefined;

  /** `count`: the number of calls; rows behind them are others. Undefined where a key is no digest. */
  static of(packed: PackedRows, reader: PackedReader, count: number): RowsInIndex | undefined {
    return typeof packed.keys === 'string' ? new RowsInIndex(packed, packed.keys, reader, count) : undefined;
  }

  private constructor(
    private readonly packed: PackedRows,
    keys: string,
    private readonly reader: PackedReader,
    private readonly count: number,
  ) {
    this.digests = Buffer.from(keys, 'base64');
    this.slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * count + 1)));
    for (let row = 0; row < count; row++) this.slots[this.slotFor(this.digests.readUInt32BE(row * KEY_BYTES))] = row + 1;
    this.within = new Map(packed.within.map(([row, around]) => [row, around.map((at) => (typeof at === 'number' ? this.keyAt(at) : at))]));
  }

  /** All of them: nothing but the index has them. */
  get rewritten(): number {
    return this.count;
  }

  find<Found>(key: CallKey, read: (row: Row) => Found | undefined): Found | undefined {
    if (this.last?.key !== key) this.last = { key, row: this.rowOf(key) };
    return this.last.row && read(this.last.row);
  }

  /** Returns all rows in the order in which their calls were first made. */
  all(): readonly Row[] {
    const rows: Row[] = [];
    unpackRows(this.reader, unpackKeys(this.packed).slice(0, this.count), (key, entry, calledIn) => {
      const order = rows.length;
      rows.push({ key, order, entry, calledIn, within: this.within.get(order) });
    });
    return rows;
  }

  private rowOf(key: CallKey): Row | undefined {
    const place = this.rowNumberOf(key.slice(DIGEST.length));
    if (place === undefined) return undefined;
    const { reader } = this;
    return { key, order: place, entry: reader.entryAt(place), calledIn: reader.calledInAt(place), within: this.within.get(place) };
  }

  private rowNumberOf(digits: string): number | undefined {
    const slot = this.slotFor(parseInt(digits.slice(0, 8), 16), digits);
    const found = this.slots[slot] as number;
    return found === 0 ? undefined : found - 1;
  }

  /** Returns the slot of these digits, else the next free one. */
  private slotFor(beginning: number, digits?: string): number {
    const mask = this.slots.length - 1;
    let slot = beginning & mask;
    for (let taken = this.slots[slot] as number; taken !== 0; taken = this.slots[slot] as number) {
      if (digits !== undefined && this.digitsAt(taken - 1) === digits) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private keyAt(row: number): CallKey {
    return `${DIGEST}${this.digitsAt(row)}` as CallKey;
  }

  private digitsAt(row: number): string {
    return this.digests.toString('hex', row * KEY_BYTES, (row + 1) * KEY_BYTES);
  }
}
