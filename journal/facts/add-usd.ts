/** Adds amounts of money. A sum of binary fractions ends in digits that nobody was charged, such as 0.11999999999999998. calls.md 10.6. */

/** Prices of tokens are fractions of a millionth of a dollar. */
const UNITS = 1e9;

/**
 * Adds US dollars as whole billionths, so that sums of the same amounts are the same in any order and grouping. Amounts of millions,
 * which no call costs, are added as they are.
 */
export function addUsd(one: number, other: number): number {
  const units = Math.round(one * UNITS) + Math.round(other * UNITS);
  return Number.isSafeInteger(units) ? units / UNITS : one + other;
}

/** Adds two amounts of which either may be unknown: an unknown one is not 0. */
export function addKnownUsd(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : addUsd(one, other);
}

/** Adds an amount to a sum of which nothing may be known yet, which is null. */
export function sumUsd(sum: number | null, more: number | null | undefined): number | null {
  return more === undefined || more === null ? sum : addUsd(sum ?? 0, more);
}
