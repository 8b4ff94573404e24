/** Decides how two runs differ from the folds of both. Nothing is read here. */
import type { EventRef, Workflow } from '../../../journal/ids.js';
import type { Alignment, Pair } from './align.js';
import { inExecutionOrder } from '../../fold/execution-order.js';
import type { ComparedCall, RunCalls } from './run-calls.js';

export type CallChange = 'arguments' | 'definition' | 'result' | 'outcome';

export interface ComparedPair extends Pair {
  /** Empty: the same call, of the same definition, with the same result. */
  readonly changes: readonly CallChange[];
  /** The same call at another place. */
  readonly moved: boolean;
}

export interface CallsDiff {
  readonly pairs: readonly ComparedPair[];
  readonly onlyLeft: readonly ComparedCall[];
  readonly onlyRight: readonly ComparedCall[];
}

/** Returns the digest of a result that neither run recorded; undefined when it is gone. */
export type ResultDigest = (call: ComparedCall) => string | undefined;

export function diffCalls({ pairs, onlyLeft, onlyRight }: Alignment, digestOf: ResultDigest): CallsDiff {
  return { pairs: pairs.map((pair) => compared(pair, digestOf)), onlyLeft, onlyRight };
}

/** Returns whether the folds alone can't decide if the results of a pair are equal. */
export function needsDigest({ left, right }: Pair): boolean {
  return hasResult(left) && hasResult(right) && !isSameEvent(left, right);
}

function compared(pair: Pair, digestOf: ResultDigest): ComparedPair {
  const { left, right } = pair;
  const changes: CallChange[] = [];
  if (left.key !== right.key) changes.push('arguments');
  if (left.fingerprint !== undefined && right.fingerprint !== undefined && left.fingerprint !== right.fingerprint)
    changes.push('definition');
  if (hasResult(left) !== hasResult(right) || (!hasResult(left) && !isSameOutcome(left, right))) changes.push('outcome');
  else if (!hasResult(left) ? left.digest !== right.digest : !isSameEvent(left, right) && digestOf(left) !== digestOf(right))
    changes.push('result');
  return { ...pair, changes, moved: left.key === right.key && left.op !== right.op };
}

/** Executed and reused count alike: both have a result that can be compared. */
function hasResult({ outcome }: ComparedCall): boolean {
  return outcome === 'executed' || outcome === 'reused';
}

/** A failure of another class is another outcome; how often, when and at what cost it was tried is none. calls.md 17. */
function isSameOutcome(left: ComparedCall, right: ComparedCall): boolean {
  return left.outcome === right.outcome && left.cause === right.cause;
}

function isSameEvent({ resultFrom: ours }: ComparedCall, { resultFrom: theirs }: ComparedCall): boolean {
  return ours !== undefined && theirs !== undefined && ours.run === theirs.run && ours.seq === theirs.seq;
}

/** Lists the paths whose content differs; a side is undefined where it has none. */
export function diffFiles(left: ReadonlyMap<string, string>, right: ReadonlyMap<string, string>): readonly FileDifference[] {
  const paths = [...new Set([...left.keys(), ...right.keys()])].sort();
  return paths
    .map((path) => ({ path, left: left.get(path), right: right.get(path) }))
    .filter(({ left: ours, right: theirs }) => ours !== theirs);
}

export interface FileDifference {
  readonly path: string;
  readonly left: string | undefined;
  readonly right: string | undefined;
}

export interface ForkPoint {
  /** Calls that both runs have in common, with the same result, before they part; in the order of the script. */
  readonly common: number;
  readonly last: ComparedPair | undefined;
  /** The next call of each run. */
  readonly left: ComparedCall | undefined;
  readonly right: ComparedCall | undefined;
  /** The run that recorded most of the common results. */
  readonly ancestor:
    { readonly run: string; readonly workflow: Workflow | undefined; readonly results: number; readonly seq: number } | undefined;
}

/** Finds the call at which two runs part. Time plays no part: calls side by side are taken in the order of the script. */
export function forkPoint({ pairs }: CallsDiff, left: RunCalls, right: RunCalls): ForkPoint {
  const partner = new Map(pairs.filter(({ changes }) => changes.length === 0).map((pair) => [pair.left, pair]));
  const [ours, theirs] = [inExecutionOrder([...left.calls]), inExecutionOrder([...right.calls])];
  let common = 0;
  while (common < ours.length && partner.get(ours[common] as ComparedCall)?.right === theirs[common] && theirs[common] !== undefined)
    common++;
  const last = common === 0 ? undefined : partner.get(ours[common - 1] as ComparedCall);
  return { common, last, left: ours[common], right: theirs[common], ancestor: ancestorOf(ours.slice(0, common)) };
}

function ancestorOf(calls: readonly ComparedCall[]): ForkPoint['ancestor'] {
  const counts = new Map<string, { readonly run: string; workflow: Workflow | undefined; results: number; seq: number }>();
  for (const { resultFrom: answer } of calls) {
    if (answer === undefined) continue;
    const { run, seq, workflow }: EventRef & { readonly workflow?: Workflow } = answer;
    const known = counts.get(run);
    if (known === undefined) counts.set(run, { run, workflow, results: 1, seq });
    else {
      known.results += 1;
      known.seq = Math.max(known.seq, seq);
      known.workflow ??= workflow;
    }
  }
  return [...counts.values()].reduce<ForkPoint['ancestor']>(
    (most, each) => (most === undefined || each.results > most.results ? each : most),
    undefined,
  );
}
