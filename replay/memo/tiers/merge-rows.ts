/** Merges the rows of tiers, and decides which tiers are merged. */
import type { Row } from './row.js';

/** A tier is merged with those behind it unless it has more than so many times their rows: a row is rewritten a few times in all. */
const GROWTH = 3;

/** Returns the number of tiers that stay as they are when `added` new rows come behind them; `rows` are their rows, oldest first. */
export function tiersToKeep(rows: readonly number[], added: number): number {
  let kept = rows.length;
  for (let merged = added; kept > 0 && (rows[kept - 1] as number) <= GROWTH * merged; kept--) merged += rows[kept - 1] as number;
  return kept;
}

/** Yields the rows of all sources, each sorted by key, oldest source first: one row for each key. */
export function* mergeRows(sources: readonly Iterator<Row>[]): Generator<Row> {
  const heads = sources.map((source) => next(source));
  for (;;) {
    let least: Row | undefined;
    for (const head of heads) if (head !== undefined && (least === undefined || head.key < least.key)) least = head;
    if (least === undefined) return;
    let merged: Row | undefined;
    for (let at = 0; at < heads.length; at++) {
      const head = heads[at];
      if (head?.key !== least.key) continue;
      merged = merged === undefined ? head : over(merged, head);
      heads[at] = next(sources[at] as Iterator<Row>);
    }
    yield merged as Row;
  }
}

function next(source: Iterator<Row>): Row | undefined {
  const { done, value } = source.next();
  return done === true ? undefined : value;
}

function over(older: Row, newer: Row): Row {
  return {
    key: older.key,
    order: newer.order ?? older.order,
    entry: newer.entry ?? older.entry,
    calledIn: newer.calledIn ?? older.calledIn,
    within: newer.within ?? older.within,
  };
}
