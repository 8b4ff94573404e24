/** Finds the name that a misspelled one may mean. */

/** Returns the nearest candidate that is at most `limit` edits away; undefined when there is none. */
export function closest(word: string, candidates: Iterable<string>, limit = Math.max(1, Math.floor(word.length / 3))): string | undefined {
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    // A part of the word must be kept: any two letters are "near" any other two.
    if (distance < bestDistance && distance < Math.max(word.length, candidate.length)) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Counts insertions, deletions, replacements, and swaps of neighbours (Damerau-Levenshtein). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, at(beforeLast, j - 2) + 1);
      row.push(least);
    }
    [beforeLast, last] = [last, row];
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
