/**
 * All tiers of an index together. A newer tier has the members of a row that changed since the older ones.
 *
 * TIERS-1 a damaged page costs time and nothing else: from then on the rows are those of the fold of the runs. Where that throws, each
 *    look into a damaged page does
 */
import type { CallKey } from '../../../journal/ids.js';
import { mergeRows } from './merge-rows.js';
import type { Row } from './row.js';
import { DamagedTier, type Tier } from './tier.js';
import type { RowsBelow } from './tiered-map.js';

export class TieredRows implements RowsBelow {
  private folded: Map<CallKey, Row> | undefined;
  private ordered: readonly Row[] | undefined;

  /** `tiers` are oldest first; `fold` yields all rows in their order, made from the runs alone. */
  constructor(
    readonly tiers: readonly Tier[],
    private readonly fold: () => Iterable<Row>,
  ) {}

  /** The files stay as they are. */
  get rewritten(): number {
    return 0;
  }

  /** A page was damaged: these tiers must not become part of another index. */
  get areDamaged(): boolean {
    return this.folded !== undefined;
  }

  /** Returns what the newest row of the call has that has it. */
  find<Found>(key: CallKey, read: (row: Row) => Found | undefined): Found | undefined {
    const { folded } = this;
    if (folded !== undefined) return readIf(folded.get(key), read);
    return this.madeGood(
      () => {
        for (let at = this.tiers.length - 1; at >= 0; at--) {
          const found = readIf((this.tiers[at] as Tier).find(key), read);
          if (found !== undefined) return found;
        }
        return undefined;
      },
      () => this.find(key, read),
    );
  }

  /** Returns all rows in the order in which their calls were first made. */
  all(): readonly Row[] {
    if (this.folded !== undefined) return [...this.folded.values()];
    this.ordered ??= this.madeGood(
      () => [...mergeRows(this.tiers.map((tier) => tier.rows()))].sort((one, other) => (one.order ?? 0) - (other.order ?? 0)),
      () => this.all(),
    );
    return this.ordered;
  }

  /** TIERS-1 */
  private madeGood<T>(read: () => T, again: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof DamagedTier)) throw error;
      const folded = new Map<CallKey, Row>();
      for (const row of this.fold()) folded.set(row.key, row);
      this.folded = folded; // not before: where the runs can't be read either, no call is taken for one that was never made
      return again();
    }
  }
}

function readIf<Found>(row: Row | undefined, read: (row: Row) => Found | undefined): Found | undefined {
  return row === undefined ? undefined : read(row);
}
