/** Finds names like the first missing part of a path, for "did you mean". */
import { readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

const NAMES_MAX = 3;

/** Returns at most three names of the nearest folder that exists, most similar first. */
export async function similarNames(path: string): Promise<string[]> {
  for (let missing = path; dirname(missing) !== missing; missing = dirname(missing)) {
    const names = await readdir(dirname(missing)).catch(() => undefined);
    if (names) return nearest(basename(missing), names);
  }
  return [];
}

function nearest(wanted: string, names: readonly string[]): string[] {
  const distanceMax = Math.max(1, Math.floor(wanted.length / 3));
  return names
    .filter((name) => name !== wanted && Math.abs(name.length - wanted.length) <= distanceMax)
    .map((name) => ({ name, distance: editDistance(wanted.toLowerCase(), name.toLowerCase()) }))
    .filter(({ distance }) => distance <= distanceMax)
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, NAMES_MAX)
    .map(({ name }) => name);
}

/** Counts the insertions, deletions, replacements and swaps of neighbours that make one text the other. */
function editDistance(from: string, to: string): number {
  let older: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let k = 1; k <= to.length; k++) {
      const isSame = from[i - 1] === to[k - 1];
      let best = Math.min((above[k] ?? 0) + 1, (row[k - 1] ?? 0) + 1, (above[k - 1] ?? 0) + (isSame ? 0 : 1));
      const isSwap = i > 1 && k > 1 && from[i - 1] === to[k - 2] && from[i - 2] === to[k - 1];
      if (isSwap) best = Math.min(best, (older[k - 2] ?? 0) + 1);
      row.push(best);
    }
    older = above;
    above = row;
  }
  return above[to.length] ?? 0;
}
