/**
 * Reads packed rows, in any order.
 *
 * PACKED-1 a preview is the one before with another middle: read in order, each is one step; else they are put together from the last of
 *    those that are kept, one in `KEPT_EVERY`
 */
import type { CallKey, Fingerprint, RunRef, Seq } from '../../../journal/ids.js';
import type { MemoEntry } from '../memo.js';
import { NONE } from '../numbering.js';
import type { StoredResult } from '../stored-result.js';
import { unpackForm } from '../tiers/row.js';
import type { Packed, PackedRows } from './packed-rows.js';

const KEPT_EVERY = 64;

export class PackedReader {
  private readonly previews: Previews;

  /** `insides` replaces the table of the same name, so that equal lists are shared with others. */
  constructor(
    private readonly packed: PackedRows,
    private readonly insides: readonly (readonly string[])[],
  ) {
    this.previews = new Previews(packed);
  }

  entryAt(row: number): MemoEntry | undefined {
    const { strings, columns } = this.packed;
    const text = (number: number): string | undefined => (number === NONE ? undefined : strings[number]);
    const fn = text(cell(columns.fn, row));
    if (fn === undefined) return undefined;
    return {
      fn,
      fingerprint: text(cell(columns.fingerprint, row)) as Fingerprint | undefined,
      site: text(cell(columns.site, row)),
      declared: text(cell(columns.declared, row)),
      preview: this.previews.at(row),
      attempt: count(cell(columns.attempt, row)),
      scope: text(cell(columns.scope, row)),
      inside: this.insides[cell(columns.inside, row)] as readonly string[],
      result: this.resultAt(row),
    };
  }

  calledInAt(row: number): number | undefined {
    return count(cell(this.packed.columns.calledIn, row));
  }

  /** Says that no tier has the call. */
  isNewAt(row: number): boolean {
    return cell(this.packed.columns.added, row) === 1;
  }

  private resultAt(row: number): StoredResult | undefined {
    const { columns, runs, fromMs } = this.packed;
    const run = cell(columns.run, row);
    if (run === NONE) return undefined;
    const bytes = cell(columns.bytes, row);
    const form = unpackForm(cell(columns.form, row));
    return {
      ref: runs[run] as RunRef,
      seq: cell(columns.seq, row) as Seq,
      position: { offset: cell(columns.offset, row), bytes },
      form: form.form,
      sealed: form.sealed,
      carries: form.carries,
      hasFiles: form.hasFiles,
      hasUsage: form.hasUsage,
      isIncomplete: form.isIncomplete,
      endedMs: (cell(columns.endedMs, row) ?? NaN) + fromMs, // JSON has no NaN
      elapsedMs: cell(columns.elapsedMs, row),
      sizeBytes: count(cell(columns.sizeBytes, row)) ?? bytes,
      costUsd: count(cell(columns.costUsd, row)),
      insideUsd: count(cell(columns.insideUsd, row)),
    };
  }
}

type VisitRow = (key: CallKey, entry: MemoEntry | undefined, calledIn: number | undefined, isNew: boolean) => void;

/** `keys` are the unpacked ones, of all rows or of the first ones. */
export function unpackRows(reader: PackedReader, keys: readonly CallKey[], visit: VisitRow): void {
  for (let row = 0; row < keys.length; row++) visit(keys[row] as CallKey, reader.entryAt(row), reader.calledInAt(row), reader.isNewAt(row));
}

function cell(column: Packed, row: number): number {
  return typeof column === 'number' ? column : (column[row] as number);
}

function count(number: number): number | undefined {
  return number === NONE ? undefined : number;
}

class Previews {
  /** The last row that was read, and what the one behind it begins and ends with. */
  private row = NONE;
  private before = '';
  /** The texts to which later rows refer by their place, as far as they were read. */
  private readonly referred: Map<number, string>;
  /** Holds the text before each row whose number divides by `KEPT_EVERY`; undefined until rows are read in another order. PACKED-1 */
  private kept: string[] | undefined;

  constructor(private readonly packed: PackedRows) {
    const places = packed.previews.filter((middle): middle is number => typeof middle === 'number');
    this.referred = new Map(places.map((place) => [place, '']));
  }

  at(row: number): string | undefined {
    if (row <= this.row || row > this.row + KEPT_EVERY) this.goTo(row);
    while (this.row < row) this.step();
    return this.packed.previews[row] === null ? undefined : this.before;
  }

  private goTo(row: number): void {
    this.kept ??= this.keepAll();
    const place = Math.floor(row / KEPT_EVERY);
    this.row = place * KEPT_EVERY - 1;
    this.before = this.kept[place] as string;
  }

  private keepAll(): string[] {
    const kept: string[] = [];
    [this.row, this.before] = [NONE, ''];
    for (let row = 0; row < this.packed.previews.length; row++) {
      if (row % KEPT_EVERY === 0) kept.push(this.before);
      this.step();
    }
    return kept;
  }

  private step(): void {
    const { previews, previewHeads, previewTails } = this.packed;
    const row = ++this.row;
    const middle = previews[row] ?? undefined;
    if (middle === undefined) return;
    const { before } = this;
    this.before =
      typeof middle === 'number'
        ? (this.referred.get(middle) as string)
        : before.slice(0, cell(previewHeads, row)) + middle + before.slice(before.length - cell(previewTails, row));
    if (this.referred.has(row)) this.referred.set(row, this.before);
  }
}
