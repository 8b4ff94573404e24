/**
 * Finds for each call of one run its counterpart in another, across edited scripts, reordered loops and inserted items.
 *
 * ALIGN-1 the same call at the same place; then the same call anywhere, in order; then a similar call of the same function at a
 *    place that differs at most in its ordinals; then any call of the same function at the same place
 * ALIGN-2 symmetric: exchanging the runs exchanges the sides and nothing else
 * ALIGN-3 every call is in exactly one pair, or alone
 */
import { textSimilarity } from '../text-similarity.js';
import type { ComparedCall } from './run-calls.js';

export interface Pair {
  readonly left: ComparedCall;
  readonly right: ComparedCall;
}

export interface Alignment {
  /** In the order of the left run. */
  readonly pairs: readonly Pair[];
  readonly onlyLeft: readonly ComparedCall[];
  readonly onlyRight: readonly ComparedCall[];
}

/** In groups with more calls only the place counts: comparing all with all would take too long. */
const COMPARED_MAX = 200;
/** Two calls are one changed call when at least this part of the longer text is common to both. */
const ALIKE_MIN = 0.5;
/** Bonus for the same place, in units of similarity. */
const SAME_PLACE = 0.25;

type Match = (left: readonly ComparedCall[], right: readonly ComparedCall[]) => readonly Pair[];

const STEPS: readonly (readonly [identity: (call: ComparedCall) => string, match: Match])[] = [
  [({ op, key }) => `${op} ${key}`, inOrder],
  [({ key }) => key, inOrder],
  [({ op, fn }) => `${withoutNumbers(op)} ${fn}`, mostAlike],
  [({ op, fn }) => `${op} ${fn}`, inOrder],
];

export function align(left: readonly ComparedCall[], right: readonly ComparedCall[]): Alignment {
  const { pairs, restLeft: ours, restRight: theirs } = sameRank(left, right);
  let [restLeft, restRight] = [ours, theirs];
  for (const [identity, match] of STEPS) {
    if (restLeft.length === 0 || restRight.length === 0) break;
    const groups = grouped(restRight, identity);
    const paired = new Set<ComparedCall>();
    for (const [id, ours] of grouped(restLeft, identity)) {
      const theirs = groups.get(id);
      if (theirs === undefined) continue;
      for (const pair of match(ours, theirs)) {
        pairs.push(pair);
        paired.add(pair.left).add(pair.right);
      }
    }
    restLeft = restLeft.filter((call) => !paired.has(call));
    restRight = restRight.filter((call) => !paired.has(call));
  }
  return { pairs: pairs.sort((one, other) => one.left.seq - other.left.seq), onlyLeft: restLeft, onlyRight: restRight };
}

/** The common case at little cost: two runs that did the same in the same order. */
function sameRank(left: readonly ComparedCall[], right: readonly ComparedCall[]) {
  const pairs: Pair[] = [];
  const isPaired = (call: ComparedCall, rank: number): boolean => {
    const [ours, theirs] = [left[rank], right[rank]];
    return call.op === ours?.op && call.op === theirs?.op && ours.key === theirs.key;
  };
  const restLeft = left.filter((call, rank) => {
    const wasPaired = isPaired(call, rank);
    if (wasPaired) pairs.push({ left: call, right: right[rank] as ComparedCall });
    return !wasPaired;
  });
  return { pairs, restLeft, restRight: right.filter((call, rank) => !isPaired(call, rank)) };
}

function grouped(calls: readonly ComparedCall[], identity: (call: ComparedCall) => string): Map<string, ComparedCall[]> {
  const groups = new Map<string, ComparedCall[]>();
  for (const call of calls) {
    const id = identity(call);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [call]);
    else group.push(call);
  }
  return groups;
}

function inOrder(left: readonly ComparedCall[], right: readonly ComparedCall[]): readonly Pair[] {
  return left.slice(0, right.length).map((call, index) => ({ left: call, right: right[index] as ComparedCall }));
}

function mostAlike(left: readonly ComparedCall[], right: readonly ComparedCall[]): readonly Pair[] {
  if (left.length > COMPARED_MAX || right.length > COMPARED_MAX) return [];
  const candidates: { readonly score: number; readonly i: number; readonly j: number }[] = [];
  for (const [i, ours] of left.entries()) {
    for (const [j, theirs] of right.entries()) {
      const score = textSimilarity(ours.preview, theirs.preview);
      if (score >= ALIKE_MIN) candidates.push({ score: score + (ours.op === theirs.op ? SAME_PLACE : 0), i, j });
    }
  }
  // Ties by the sum of the ranks: of two candidates that exclude each other one has the smaller, from either side (ALIGN-2).
  candidates.sort((one, other) => other.score - one.score || one.i + one.j - (other.i + other.j));
  const [takenLeft, takenRight] = [new Set<number>(), new Set<number>()];
  const pairs: Pair[] = [];
  for (const { i, j } of candidates) {
    if (takenLeft.has(i) || takenRight.has(j)) continue;
    takenLeft.add(i);
    takenRight.add(j);
    pairs.push({ left: left[i] as ComparedCall, right: right[j] as ComparedCall });
  }
  return pairs;
}

/** `main/for#0[3]/ask#1` without its numbers. */
function withoutNumbers(op: string): string {
  return op.replaceAll(/#\d+|\[w?\d+\]/g, '');
}
