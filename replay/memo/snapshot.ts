/**
 * The index of a workflow: what every start needs of its past, folded once and kept beside the runs. It may be deleted,
 * damaged or of another version at any time; then it is made again.
 *
 * INDEX-1 it covers a prefix of the workflow's runs, and only the last of them may still have been running
 * INDEX-2 index, folded on with what came since, equals the fold of everything
 * INDEX-3 a body that does not fit its check value is not read: a flipped bit must not bring an invalidated result back
 * INDEX-4 what it says of calls is in its rows and, in a long past, in tiers below them (`tiers/`): the rows are what changed since
 * INDEX-5 a store without tiers has all rows of a long past in the index: then they are looked up there (`packed/rows-in-index.ts`)
 */
import type { FactType } from '../../journal/event.js';
import { simulates } from '../../journal/facts/simulated-definition.js';
import type { CallKey, Fingerprint, OpPath, RunId, RunRef } from '../../journal/ids.js';
import type { RunFile, ScanOptions } from '../../journal/store.js';
import { sha256Hex } from '../../journal/sha256.js';
import { internNames } from '../fold/interned-names.js';
import { completeness, type Completeness } from './checkpoints.js';
import { definitions, type Definitions, type RecordedDefinition } from './definitions.js';
import type { KeyedStates } from './keyed-states.js';
import { memo, type Memo, type MemoEntry } from './memo.js';
import { packRows, unpackKeys, type PackedRows } from './packed/packed-rows.js';
import { PackedReader, unpackRows } from './packed/packed-reader.js';
import { RowsInIndex } from './packed/rows-in-index.js';
import type { Rejection } from './rejected-results.js';
import type { StoredResult } from './stored-result.js';
import type { UnjudgedCall } from './unjudged-results.js';
import { packProcesses, processes, unpackProcesses, type PackedProcesses, type Processes } from '../fold/processes.js';
import type { Projection } from '../fold/projection.js';
import { changedRows, memoOver } from './tiers/changed-rows.js';
import type { Row } from './tiers/row.js';
import type { TierInfo } from './tiers/tier.js';
import { TieredMap } from './tiers/tiered-map.js';
import type { TieredRows } from './tiers/tiered-rows.js';

const VERSION = 20;

/** The folds that every start of a workflow needs of its prior runs. */
export interface Index {
  readonly memo: Memo;
  readonly complete: Completeness;
  readonly definitions: Definitions;
  readonly processes: Processes;
}

/** Most events are of these types, which say nothing to the other folds. */
export const ONLY_OF_MEMO: ReadonlySet<FactType> = new Set<FactType>([
  'op.started',
  'op.finished',
  'call.started',
  'call.completed',
  'call.reused',
  'call.failed',
  'result.received',
]);

export const index: Projection<Index> = {
  initial: () => ({
    memo: memo.initial(),
    complete: completeness.initial(),
    definitions: definitions.initial(),
    processes: processes.initial(),
  }),
  apply(state, event, place) {
    memo.apply(state.memo, event, place);
    if (ONLY_OF_MEMO.has(event.type)) return state;
    completeness.apply(state.complete, event, place);
    definitions.apply(state.definitions, event, place);
    processes.apply(state.processes, event, place);
    return state;
  },
};

/** A run that the index covers. */
export interface Covered {
  readonly run: RunId;
  /** The size of a run whose writer is gone. A run of another size is not the one that was folded. */
  readonly bytes?: number | undefined;
  /** The position at which to continue in a run whose writer was alive. */
  readonly from?: ScanOptions['from'];
}

export interface Snapshot {
  readonly covered: readonly Covered[];
  readonly index: Index;
}

/** Names the tiers below the rows of an index. */
export interface Below {
  /** Oldest first. */
  readonly tiers: readonly TierInfo[];
  /** The number of calls that the tiers have: the order of the next one. */
  readonly calls: number;
}

export const NOTHING_BELOW: Below = { tiers: [], calls: 0 };

/** The part of an index that is not about single calls. */
interface Head {
  readonly covered: readonly Covered[];
  readonly refused: readonly CallKey[];
  readonly rejected: readonly (readonly [CallKey, Rejection])[];
  readonly unjudged: readonly (readonly [CallKey, UnjudgedCall])[];
  readonly complete: readonly (readonly [string, boolean])[];
  readonly definitions: readonly (readonly [Fingerprint, RecordedDefinition])[];
  readonly called: readonly (readonly [string, RunRef])[];
  readonly cleanedBy: RunRef | null;
  readonly outlasting: readonly RunId[];
  readonly calledFrom: number;
  readonly runNumber: number;
  readonly current: RunRef | null;
  readonly scope: string | null;
  /** Their rows follow those of `rows`. */
  readonly pending: readonly (readonly [OpPath, CallKey, failedUsd: number | null])[];
  readonly open: readonly (readonly [OpPath, string])[];
  readonly replaced: readonly (readonly [CallKey, StoredResult])[];
  readonly processes: PackedProcesses;
}

interface Body extends Head {
  readonly rows: PackedRows;
  readonly below: Below;
}

/** An index as it was at one moment: folding on does not change it. */
export interface CapturedIndex {
  readonly head: Head;
  /** The calls that changed since the tiers, in the order in which they changed first; new ones have an order. */
  readonly rows: readonly Row[];
  readonly pendingRows: readonly Row[];
}

/** `calls`: the number of calls that the tiers below have. */
export function captureIndex(
  { covered, index: { memo: state, complete, definitions: defined, processes: started } }: Snapshot,
  calls = 0,
): CapturedIndex {
  const head: Head = {
    covered: [...covered],
    refused: [...state.refused],
    rejected: [...state.rejected],
    unjudged: [...state.unjudged],
    complete: [...complete],
    definitions: [...defined],
    processes: packProcesses(started),
    called: [...state.called],
    cleanedBy: state.cleanedBy ?? null,
    outlasting: [...state.outlasting],
    calledFrom: state.calledFrom,
    runNumber: state.runNumber,
    current: state.current ?? null,
    scope: state.scope ?? null,
    pending: [...state.pending].map(([op, { key, failedUsd = null }]) => [op, key, failedUsd] as const),
    open: [...state.inFlight],
    replaced: [...state.replaced],
  };
  const pendingRows = [...state.pending.values()].map(({ key, entry }): Row => ({ key, entry }));
  return { head, rows: changedRows(state, calls), pendingRows };
}

export function encodeIndex({ head, rows, pendingRows }: CapturedIndex, below: Below = NOTHING_BELOW): string {
  const text = JSON.stringify({ ...head, rows: packRows([...rows, ...pendingRows]), below } satisfies Body);
  return `${heading(text)}\n${text}`;
}

export interface DecodedIndex extends Snapshot {
  readonly below: Below;
}

/**
 * Undefined: not an index of this version, or not whole. `openBelow` opens the tiers; undefined when one is not there as it was written.
 * More rows than `unpackedMax` are looked up where they are (INDEX-5).
 */
export function decodeSnapshot(
  content: Uint8Array,
  openBelow: (below: Below, covered: readonly Covered[]) => TieredRows | undefined = () => undefined,
  unpackedMax = Infinity,
): DecodedIndex | undefined {
  const all = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const newline = all.indexOf(10);
  if (newline < 0) return undefined;
  const text = all.subarray(newline + 1);
  if (all.toString('latin1', 0, newline) !== heading(text)) return undefined;
  // Whole and of our version, so it has the shape that we gave it (INDEX-3).
  const body = JSON.parse(text.toString('utf8')) as Body;
  const { covered, below } = body;
  const rows = below.tiers.length === 0 ? undefined : openBelow(below, covered);
  if (rows === undefined && below.tiers.length > 0) return undefined;
  return {
    covered,
    below,
    index: {
      memo: memoFrom(body, rows, unpackedMax),
      complete: new Map(body.complete),
      definitions: new Map(body.definitions),
      processes: unpackProcesses(body.processes),
    },
  };
}

/** Returns what an index says of its tiers, before it was found to be whole. */
export function tiersNamedIn(content: Uint8Array | undefined): readonly TierInfo[] {
  const end =
    content === undefined
      ? ''
      : Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('utf8', Math.max(0, content.length - BELOW_BYTES_MAX));
  const start = end.lastIndexOf(BELOW);
  if (start < 0) return [];
  try {
    const { tiers } = JSON.parse(end.slice(start + BELOW.length, -1)) as Below;
    return Array.isArray(tiers) ? tiers : [];
  } catch {
    return [];
  }
}
/** It is the last member. */
const BELOW = '"below":';
const BELOW_BYTES_MAX = 64 * 1024;

/** Returns the first line of an index, by which it is told from any other. */
export function headingOf(content: string | Uint8Array): string {
  const text =
    typeof content === 'string' ? content.slice(0, HEADING_UNITS_MAX) : Buffer.from(content.subarray(0, HEADING_UNITS_MAX)).toString();
  return text.slice(0, Math.max(0, text.indexOf('\n')));
}
const HEADING_UNITS_MAX = 128;

function heading(body: string | Uint8Array): string {
  return `mlld index ${VERSION} ${sha256Hex(body)}`;
}

/** JSON has no NaN and no undefined. */
function wholeResult(result: StoredResult): StoredResult {
  const { form, costUsd, insideUsd, endedMs } = result;
  return { ...result, form, costUsd, insideUsd, endedMs: (endedMs as number | null) ?? Number.NaN };
}

function memoFrom({ rows, ...head }: Body, tiers: TieredRows | undefined, unpackedMax: number): Memo {
  const interned: Memo['interned'] = new Map(rows.strings.map((text) => [text, text]));
  const insides: Memo['insides'] = new Map();
  const reader = new PackedReader(
    rows,
    rows.insides.map((names) => internNames({ insides }, names)),
  );
  const asked = rows.previews.length - head.pending.length;
  const below = tiers ?? (asked > unpackedMax ? RowsInIndex.of(rows, reader, asked) : undefined);
  const state: Memo = { ...(below === undefined ? memo.initial() : memoOver(below)), interned, insides };
  if (below === tiers) {
    const keys = unpackKeys(rows);
    unpackRows(reader, keys.slice(0, asked), (key, entry, calledIn, isNew) => {
      if (entry !== undefined) restore(state.entries, key, entry, isNew);
      if (calledIn !== undefined) restore(state.calledIn, key, calledIn);
    });
    const keyAt = (at: number | CallKey): CallKey => (typeof at === 'number' ? (keys[at] as CallKey) : at);
    for (const [at, around] of rows.within) restore(state.within, keyAt(at), new Set(around.map(keyAt)));
  }
  for (const [at, [op, key, failedUsd]] of head.pending.entries()) {
    const entry = reader.entryAt(asked + at) as MemoEntry;
    state.pending.set(op, { key, entry, ...(failedUsd !== null && { failedUsd }) });
  }
  for (const key of head.refused) state.refused.add(key);
  for (const [fingerprint, { parts }] of head.definitions) if (simulates(parts)) state.simulated.add(fingerprint);
  for (const [key, { result, ...about }] of head.rejected) {
    const whole = result && wholeResult(result);
    state.rejected.set(key, { ...about, ...(whole && { result: whole }) });
  }
  for (const [key, { result, ...about }] of head.unjudged) state.unjudged.set(key, { ...about, result: wholeResult(result) });
  for (const [key, result] of head.replaced) state.replaced.set(key, wholeResult(result));
  for (const [fn, run] of head.called) state.called.set(fn, run);
  for (const [op, fn] of head.open) state.inFlight.set(op, fn);
  for (const run of head.outlasting) state.outlasting.add(run);
  state.cleanedBy = head.cleanedBy ?? undefined;
  state.calledFrom = head.calledFrom;
  state.runNumber = head.runNumber;
  state.current = head.current ?? undefined;
  state.scope = head.scope ?? undefined;
  return state;
}

function restore<State>(states: KeyedStates<State>, key: CallKey, state: State, isNew = false): void {
  if (states instanceof TieredMap) states.restore(key, state, isNew);
  else states.set(key, state);
}

/** Returns whether a workflow's runs, as they are now, begin with the runs that the index covers (INDEX-1). */
export function coversPrefix(covered: readonly Covered[], runs: readonly RunFile[]): boolean {
  return covered.every(({ run, bytes, from }, place) => {
    const now = runs[place];
    if (now?.ref.run !== run) return false;
    return from === undefined ? now.bytes === bytes : now.bytes >= from.offset;
  });
}
