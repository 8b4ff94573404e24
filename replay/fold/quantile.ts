/** Reads quantiles off a sorted list. */

/** Returns the smallest that at least this part of the numbers does not exceed; null for an empty list. */
export function quantile(ascending: readonly number[], part: number): number | null {
  return ascending[Math.max(0, Math.ceil(ascending.length * part) - 1)] ?? null;
}

export function sorted(numbers: readonly number[]): readonly number[] {
  return numbers.toSorted((one, other) => one - other);
}
