/** How two runs differ: decided from what each of them recorded. Nothing is read here. */
import type { EventRef, Workflow } from '../../../journal/ids.js';
import type { Alignment, Pair } from './align.js';
import { inExecutionOrder } from '../../fold/execution-order.js';
import type { ComparedCall, RunCalls } from './run-calls.js';

export type CallChange = 'arguments' | 'definition' | 'result' | 'outcome';

export interface ComparedPair extends Pair {
  /** Empty: the same question, asked the same way, with the same answer. */
  readonly changes: readonly CallChange[];
  /** The same question at another place. */
  readonly moved: boolean;
}

export interface CallsDiff {
  readonly pairs: readonly ComparedPair[];
  readonly onlyLeft: readonly ComparedCall[];
  readonly onlyRight: readonly ComparedCall[];
}

/** The digest of an answer that neither run recorded; undefined when it is gone. */
export type ResultDigest = (call: ComparedCall) => string | undefined;

export function diffCalls({ pairs, onlyLeft, onlyRight }: Alignment, digestOf: ResultDigest): CallsDiff {
  return { pairs: pairs.map((pair) => compared(pair, digestOf)), onlyLeft, onlyRight };
}

/** Pairs whose answers can't be told apart or together by what the two runs hold. */
export function needsDigest({ left, right }: Pair): boolean {
  return hasResult(left) && hasResult(right) && !isSameEvent(left, right);
}

function compared(pair: Pair, digestOf: ResultDigest): ComparedPair {
  const { left, right } = pair;
  const changes: CallChange[] = [];
  if (left.key !== right.key) changes.push('arguments');
  if (left.fingerprint !== undefined && right.fingerprint !== undefined && left.fingerprint !== right.fingerprint)
    changes.push('definition');
  if (hasResult(left) !== hasResult(right) || (!hasResult(left) && left.outcome !== right.outcome)) changes.push('outcome');
  else if (!hasResult(left) ? left.digest !== right.digest : !isSameEvent(left, right) && digestOf(left) !== digestOf(right))
    changes.push('result');
  return { ...pair, changes, moved: left.key === right.key && left.op !== right.op };
}

/** Executed and reused are one: whether an answer was there before says nothing about what it is. */
function hasResult({ outcome }: ComparedCall): boolean {
  return outcome === 'executed' || outcome === 'reused';
}

function isSameEvent({ resultFrom: ours }: ComparedCall, { resultFrom: theirs }: ComparedCall): boolean {
  return ours !== undefined && theirs !== undefined && ours.run === theirs.run && ours.seq === theirs.seq;
}

/** Paths whose content is not the same on both sides; undefined where one has none. */
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
  /** Calls that both runs have in common, with one answer, before they part; in the order of the script. */
  readonly common: number;
  readonly last: ComparedPair | undefined;
  /** What each asked next. */
  readonly left: ComparedCall | undefined;
  readonly right: ComparedCall | undefined;
  /** The run most of the common answers come from. */
  readonly ancestor:
    { readonly run: string; readonly workflow: Workflow | undefined; readonly results: number; readonly seq: number } | undefined;
}

/** Where two runs that share a past stop being the same. Time plays no part: calls side by side are taken in the order of the script. */
export function forkPoint({ pairs }: CallsDiff, left: RunCalls, right: RunCalls): ForkPoint {
  const partner = new Map(pairs.filter(({ changes }) => changes.length === 0).map((pair) => [pair.left, pair]));
  const [ours, theirs] = [inExecutionOrder(left.calls), inExecutionOrder(right.calls)];
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
