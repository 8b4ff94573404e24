/** States of calls that are read from the rows of an index, with those that changed since in memory. */
import type { CallKey } from '../../../journal/ids.js';
import type { KeyedStates } from '../keyed-states.js';
import type { Row } from './row.js';

/** Rows of calls that a memo does not hold in memory. */
export interface RowsBelow {
  /** Returns what the row of the call has. */
  find<Found>(key: CallKey, read: (row: Row) => Found | undefined): Found | undefined;
  /** Returns all rows in the order in which their calls were first made. */
  all(): readonly Row[];
  /** The number of rows that the next index has to hold again. */
  readonly rewritten: number;
}

export class TieredMap<State> implements KeyedStates<State> {
  private changed = new Map<CallKey, State>();
  /** All states, once all were read. */
  private whole: Map<CallKey, State> | undefined;
  /** Keys that the rows don't have, where that is of interest. */
  private readonly added: Set<CallKey> | undefined;

  /** `read` takes the state out of a row. */
  constructor(
    private rows: RowsBelow | undefined,
    private readonly read: (row: Row) => State | undefined,
    { notesNew = false } = {},
  ) {
    this.added = notesNew ? new Set() : undefined;
  }

  /** States that are not in the rows as they are now, in the order in which they changed first. */
  get changes(): ReadonlyMap<CallKey, State> {
    return this.changed;
  }

  /** The rows below, unless all states were taken out of them. */
  get below(): RowsBelow | undefined {
    return this.rows;
  }

  isNew(key: CallKey): boolean {
    return this.rows === undefined || this.added?.has(key) === true;
  }

  get(key: CallKey): State | undefined {
    if (this.whole !== undefined) return this.whole.get(key);
    const known = this.changed.get(key);
    if (known !== undefined || this.rows === undefined) return known;
    return this.rows.find(key, this.read);
  }

  has(key: CallKey): boolean {
    return this.get(key) !== undefined;
  }

  set(key: CallKey, state: State): this {
    if (this.added !== undefined && this.rows !== undefined && !this.changed.has(key) && !this.has(key)) this.added.add(key);
    this.changed.set(key, state);
    this.whole?.set(key, state);
    return this;
  }

  /** Takes up a state that the index has as changed, without a look into the rows. */
  restore(key: CallKey, state: State, isNew: boolean): void {
    this.changed.set(key, state);
    if (isNew) this.added?.add(key);
  }

  delete(key: CallKey): boolean {
    this.detach();
    return this.changed.delete(key);
  }

  clear(): void {
    this.rows = undefined;
    this.whole = undefined;
    this.changed = new Map();
  }

  /** Reads all states and leaves the rows: from now on all count as changed. */
  detach(): void {
    if (this.rows === undefined) return;
    this.changed = this.all();
    this.rows = undefined;
    this.whole = undefined;
  }

  get size(): number {
    return this.all().size;
  }

  keys(): Iterable<CallKey> {
    return this.all().keys();
  }

  values(): Iterable<State> {
    return this.all().values();
  }

  [Symbol.iterator](): Iterator<[CallKey, State]> {
    return this.all()[Symbol.iterator]();
  }

  private all(): Map<CallKey, State> {
    if (this.rows === undefined) return this.changed;
    if (this.whole !== undefined) return this.whole;
    const whole = new Map<CallKey, State>();
    for (const row of this.rows.all()) {
      const state = this.read(row);
      if (state !== undefined) whole.set(row.key, state);
    }
    for (const [key, state] of this.changed) whole.set(key, state);
    return (this.whole = whole);
  }
}
