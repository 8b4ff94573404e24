/** Compares two recorded runs: folds both, then reads the arguments and results of a bounded number of calls that differ. */
import type { Json } from '../../../journal/event.js';
import { sha256 } from '../../../journal/canonical.js';
import { textOfRef, type BlobId, type CallKey, type RunRef } from '../../../journal/ids.js';
import type { Defect, JournalStore, Position, RunFile } from '../../../journal/store.js';
import {
  diffCalls,
  diffFiles,
  forkPoint,
  needsDigest,
  type ResultDigest,
  type CallChange,
  type ComparedPair,
  type FileDifference,
  type ForkPoint,
} from './diff.js';
import { argumentDifferences, resultDifferences, type ArgumentDifference } from '../explain/argument-diff.js';
import { align } from './align.js';
import { areNodesSame, diffNodes, forkOfNodes, type NodesDiff, type NodesFork } from './diff-nodes.js';
import { readResult } from '../../memo/read-result.js';
import type { CallCause } from '../../fold/calls/failure-class.js';
import type { CallFigures } from '../../fold/calls/call-counts.js';
import { unpricedInFlight } from '../../fold/calls/call-ledger.js';
import { foldRun } from '../../fold/fold-run.js';
import { rememberMemos, type MemoOf } from '../../memo/memo-loader.js';
import { endCrashedRun } from '../postmortem/salvaged-calls.js';
import { runCalls, type ComparedCall, type RunCalls } from './run-calls.js';
import { countedStatus, reportedStatus, type CountedStatus } from '../../fold/reported-status.js';
import { recordedMs } from '../../fold/run-duration.js';
import { textDiff, type DiffLines } from './text-diff.js';

/** A run on one side. Durations in milliseconds, costs in US dollars. */
export interface DiffSide extends Omit<CallFigures, 'attempts' | 'retries' | 'inputTokens' | 'outputTokens' | 'savedUsd'> {
  readonly workflow: string;
  readonly run: string;
  readonly status: CountedStatus;
  readonly error: string | null;
  readonly calls: number;
  readonly durationMs: number;
  readonly callsMs: number;
}

export interface DiffCall {
  readonly fn: string;
  readonly op: string;
  readonly seq: number;
  readonly outcome: ComparedCall['outcome'];
  /** The class of a failed call; null for others. */
  readonly class: CallCause | null;
  readonly preview: string | undefined;
  /** The phase of a call of a workflow script. */
  readonly phase?: string;
}

export interface DiffPair {
  readonly left: DiffCall;
  readonly right: DiffCall;
  readonly changes: readonly CallChange[];
  /** By argument; only of the first calls that differ, and where they can be read. */
  readonly arguments?: readonly { readonly number: number; readonly lines: DiffLines }[];
  readonly result?: DiffLines;
  /** The words that changed in arguments and result, as `journal explain` shows them. */
  readonly words?: readonly ArgumentDifference[];
}

export interface RunDiff {
  /** Status, calls, results, output, files and sources are the same; times and costs are not compared. */
  readonly same: boolean;
  readonly left: DiffSide;
  readonly right: DiffSide;
  readonly calls: {
    readonly same: number;
    /** The number of the same ones that are at another place. */
    readonly moved: number;
    readonly changed: readonly DiffPair[];
    readonly onlyLeft: readonly DiffCall[];
    readonly onlyRight: readonly DiffCall[];
  };
  readonly sources: readonly {
    /** The name, for a published module. */
    readonly path: string;
    /** Present where the runs are of two workflows, whose scripts have paths of their own: that of the left one. */
    readonly leftPath?: string;
    /** The versions of a published module, left and right; null where it has none or was not read. */
    readonly versions?: readonly [string | null, string | null];
    readonly lines: DiffLines;
  }[];
  readonly output: { readonly same: boolean; readonly lines: DiffLines };
  readonly files: readonly FileDifference[];
  /** Only where one is a run of a pipeline. */
  readonly nodes?: NodesDiff;
}

export interface ForkPointReport {
  readonly left: DiffSide;
  readonly right: DiffSide;
  readonly common: number;
  readonly last: DiffCall | null;
  readonly nextLeft: DiffCall | null;
  readonly nextRight: DiffCall | null;
  readonly ancestor: NonNullable<ForkPoint['ancestor']> | null;
  /** Only where one is a run of a pipeline. */
  readonly nodes?: NodesFork;
}

/** Differing calls beyond this number are reported without details. */
const DETAILS_MAX = 100;

export interface DiffOptions {
  readonly onDefect: (defect: Defect) => void;
}

export async function diffRuns(store: JournalStore, leftFile: RunFile, rightFile: RunFile, options: DiffOptions): Promise<RunDiff> {
  const { left, right, calls } = await compare(store, leftFile, rightFile, options);
  const changed: DiffPair[] = [];
  for (const pair of calls.pairs) {
    if (pair.changes.length === 0) continue;
    const details = changed.length < DETAILS_MAX ? await detailsOf(store, leftFile.ref, rightFile.ref, pair) : {};
    changed.push({ left: briefly(pair.left), right: briefly(pair.right), changes: pair.changes, ...details });
  }
  const same = calls.pairs.length - changed.length;
  const sources = await diffSources(store, { ref: leftFile.ref, state: left }, { ref: rightFile.ref, state: right });
  const files = diffFiles(left.files, right.files);
  const isOutputSame = left.output.digest === right.output.digest;
  const lines = isOutputSame ? [] : await textDiff(left.output.beginnings.join('\n'), right.output.beginnings.join('\n'));
  const [leftSide, rightSide] = [sideOf(leftFile, left), sideOf(rightFile, right)];
  const nodes = isPipeline(left, right) ? diffNodes(left.nodes, right.nodes) : undefined;
  const areCallsSame = changed.length + calls.onlyLeft.length + calls.onlyRight.length === 0;
  return {
    same:
      areCallsSame &&
      (!nodes || areNodesSame(nodes)) &&
      leftSide.status === rightSide.status &&
      sources.length === 0 &&
      files.length === 0 &&
      isOutputSame,
    left: leftSide,
    right: rightSide,
    calls: {
      same,
      moved: calls.pairs.filter(({ moved, changes }) => moved && changes.length === 0).length,
      changed,
      onlyLeft: calls.onlyLeft.map(briefly),
      onlyRight: calls.onlyRight.map(briefly),
    },
    sources,
    output: { same: isOutputSame, lines },
    files,
    ...(nodes ? { nodes } : {}),
  };
}

export async function forkPointOf(
  store: JournalStore,
  leftFile: RunFile,
  rightFile: RunFile,
  options: DiffOptions,
): Promise<ForkPointReport> {
  const { left, right, calls } = await compare(store, leftFile, rightFile, options);
  const point = forkPoint(calls, left, right);
  return {
    left: sideOf(leftFile, left),
    right: sideOf(rightFile, right),
    common: point.common,
    last: point.last === undefined ? null : briefly(point.last.left),
    nextLeft: point.left === undefined ? null : briefly(point.left),
    nextRight: point.right === undefined ? null : briefly(point.right),
    ancestor: point.ancestor ?? null,
    ...(isPipeline(left, right) ? { nodes: forkOfNodes(left.nodes, right.nodes) } : {}),
  };
}

function isPipeline(left: RunCalls, right: RunCalls): boolean {
  return left.nodes.visits.size + right.nodes.visits.size > 0;
}

/** Returns whether the runs part at any point. */
export function doPart({ nextLeft, nextRight, nodes }: ForkPointReport): boolean {
  return [nextLeft, nextRight, nodes?.nextLeft ?? null, nodes?.nextRight ?? null].some((next) => next !== null);
}

async function compare(store: JournalStore, leftFile: RunFile, rightFile: RunFile, { onDefect }: DiffOptions) {
  const memoOf = rememberMemos(store, onDefect);
  const left = await foldRun(store, leftFile.ref, runCalls, { onDefect });
  const right = leftFile.ref.run === rightFile.ref.run ? left : await foldRun(store, rightFile.ref, runCalls, { onDefect });
  await endCrashedRun(store, leftFile, left.ledger);
  await endCrashedRun(store, rightFile, right.ledger);
  const both = [
    [leftFile.ref, left],
    [rightFile.ref, right],
  ] as const;
  await namePreviews(both, memoOf);
  const [leftCalls, rightCalls] = [[...left.calls], [...right.calls]];
  const alignment = align(leftCalls, rightCalls);
  const unsure = alignment.pairs.filter(needsDigest);
  const sides = [
    { ref: leftFile.ref, calls: leftCalls, unsure: unsure.map((pair) => pair.left) },
    { ref: rightFile.ref, calls: rightCalls, unsure: unsure.map((pair) => pair.right) },
  ];
  return { left, right, calls: diffCalls(alignment, await resultDigests(store, sides, memoOf)) };
}

/** Fills in previews of reused calls: a reuse event may lack its own; a withdrawn start, the other run or the memo has it. */
async function namePreviews(sides: readonly (readonly [RunRef, RunCalls])[], memoOf: MemoOf): Promise<void> {
  const isNameless = ({ outcome, preview }: ComparedCall): boolean => outcome === 'reused' && preview === undefined;
  if (!sides.some(([, { calls }]) => [...calls].some(isNameless))) return;
  const previews = new Map<CallKey, string>();
  for (const [, { calls, withdrawn }] of sides) {
    for (const { key, preview } of [...withdrawn, ...calls]) if (preview !== undefined) previews.set(key, preview);
  }
  for (const [{ workflow }, { calls }] of sides) {
    for (const call of calls) {
      if (!isNameless(call)) continue;
      call.preview = previews.get(call.key) ?? (await memoOf(workflow)).entries.get(call.key)?.preview;
    }
  }
}

interface UnsureSide {
  readonly ref: RunRef;
  readonly calls: readonly ComparedCall[];
  readonly unsure: readonly ComparedCall[];
}

/** Finds the digests of reused results: most are recorded in one of the two runs; the others are read. */
async function resultDigests(store: JournalStore, sides: readonly UnsureSide[], memoOf: MemoOf): Promise<ResultDigest> {
  const known = new Map<string, string>();
  const lacksDigest = ({ digest, resultFrom }: ComparedCall): boolean => digest === undefined && resultFrom !== undefined;
  if (!sides.some(({ unsure }) => unsure.some(lacksDigest))) return ({ digest }) => digest;
  for (const { ref, calls } of sides) {
    for (const { resultFrom, digest } of calls)
      if (resultFrom?.run === ref.run && digest !== undefined) known.set(textOfRef(resultFrom), digest);
  }
  const lookUp: ResultDigest = ({ digest, resultFrom }) => digest ?? (resultFrom && known.get(textOfRef(resultFrom)));
  for (const { ref, unsure } of sides) {
    for (const call of unsure) {
      if (call.resultFrom === undefined || lookUp(call) !== undefined) continue;
      const memo = await memoOf(call.resultFrom.workflow ?? ref.workflow);
      const place = memo.entries.get(call.key)?.result;
      const isIt = place?.ref.run === call.resultFrom.run && place.seq === call.resultFrom.seq;
      const answer = isIt ? await readResult(store, call.key, place) : undefined;
      if (answer !== undefined) known.set(textOfRef(call.resultFrom), sha256(JSON.stringify(answer.result.json)));
    }
  }
  return lookUp;
}

async function detailsOf(
  store: JournalStore,
  leftRef: RunRef,
  rightRef: RunRef,
  { left, right, changes }: ComparedPair,
): Promise<Pick<DiffPair, 'arguments' | 'result' | 'words'>> {
  const details: { arguments?: NonNullable<DiffPair['arguments']>; result?: DiffLines } = {};
  const words: ArgumentDifference[] = [];
  if (changes.includes('arguments')) {
    const [was, is] = [await argumentsOf(store, leftRef, left.started), await argumentsOf(store, rightRef, right.started)];
    if (was !== undefined && is !== undefined) {
      details.arguments = await argumentDiffs(was, is);
      words.push(...argumentDifferences(was, is));
    }
  }
  if (changes.includes('result') || changes.includes('arguments')) {
    const [was, is] = [await resultOf(store, leftRef, left), await resultOf(store, rightRef, right)];
    if (was !== undefined && is !== undefined) {
      details.result = await textDiff(textOf(was), textOf(is));
      words.push(...resultDifferences(was, is));
    }
  }
  return words.length === 0 ? details : { ...details, words };
}

async function argumentDiffs(was: readonly Json[], is: readonly Json[]): Promise<NonNullable<DiffPair['arguments']>> {
  const differences = [];
  for (let index = 0; index < Math.max(was.length, is.length); index++) {
    const lines = await textDiff(textOf(was[index]), textOf(is[index]));
    if (lines.length > 0) differences.push({ number: index + 1, lines });
  }
  return differences;
}

async function argumentsOf(store: JournalStore, ref: RunRef, position: Position | undefined): Promise<readonly Json[] | undefined> {
  const event = position && (await store.readAt(ref, position));
  const value = event?.type === 'call.started' ? await store.resolve(event.args) : undefined;
  return Array.isArray(value) ? (value as readonly Json[]) : undefined;
}

async function resultOf(store: JournalStore, ref: RunRef, { ended }: ComparedCall): Promise<Json | undefined> {
  const event = ended && (await store.readAt(ref, ended));
  return event?.type === 'call.completed' ? store.resolve(event.result, event.key) : undefined;
}

/** Text as it is, anything else with a member a line, so that a difference is about members. */
function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value, undefined, 2);
}

interface ComparedRun {
  readonly ref: RunRef;
  readonly state: RunCalls;
}

/** The scripts of two workflows, as of a fork and its source, are compared with each other; all other sources by their paths. */
async function diffSources(store: JournalStore, left: ComparedRun, right: ComparedRun): Promise<RunDiff['sources']> {
  const differences: RunDiff['sources'][number][] = [];
  const [before, now] = [left.ref.workflow, right.ref.workflow];
  const isPair = before !== now && left.state.sources.has(before) && right.state.sources.has(now);
  for (const path of new Set([...left.state.sources.keys(), ...right.state.sources.keys()])) {
    if (isPair && path === before && !right.state.sources.has(path)) continue; // it is the other script's counterpart
    const leftPath = isPair && path === now ? before : path;
    const [was, is] = [left.state.sources.get(leftPath), right.state.sources.get(path)];
    if (was?.blob === is?.blob) continue;
    const lines = await textDiff(await blobText(store, was?.blob), await blobText(store, is?.blob));
    const versions = was?.module || is?.module ? { versions: [was?.module?.version ?? null, is?.module?.version ?? null] as const } : {};
    differences.push({ path, ...(leftPath !== path && { leftPath }), ...versions, lines });
  }
  return differences;
}

async function blobText(store: JournalStore, blob: BlobId | undefined): Promise<string> {
  const content = blob && (await store.getBlob(blob));
  return content === undefined ? '' : Buffer.from(content).toString('utf8');
}

function sideOf({ ref, liveness }: RunFile, state: RunCalls): DiffSide {
  const { executed, reused, failed, accepted, denied, notExecuted, unresolved, callsMs, costUsd, unpriced } = state.ledger.total;
  const status = reportedStatus(state.status, liveness);
  return {
    workflow: ref.workflow,
    run: ref.run,
    status: countedStatus(status, { unresolved, unresolvedBefore: state.ledger.unresolvedBefore }),
    error: state.error?.message ?? null,
    calls: state.calls.size,
    executed,
    reused,
    failed,
    accepted,
    denied,
    notExecuted,
    unresolved,
    durationMs: recordedMs(state),
    callsMs,
    costUsd,
    unpriced: unpriced + (status === 'running' ? 0 : unpricedInFlight(state.ledger)),
  };
}

function briefly({ fn, op, seq, outcome, cause, preview, phase }: ComparedCall): DiffCall {
  return { fn, op, seq, outcome, class: cause ?? null, preview, ...(phase !== undefined && { phase }) };
}
