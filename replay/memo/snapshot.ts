/**
 * The index of a workflow: what every start needs of its past, folded once and kept beside the runs. It may be deleted,
 * damaged or of another version at any time; then it is made again.
 *
 * INDEX-1 it covers a prefix of the workflow's runs, and only the last of them may still have been running
 * INDEX-2 index, folded on with what came since, equals the fold of everything
 * INDEX-3 a body that does not fit its check value is not read: a flipped bit must not bring an invalidated result back
 */
import type { CallKey, Fingerprint, OpPath, RunId, RunRef, Seq } from '../../journal/ids.js';
import type { RunFile, ScanOptions } from '../../journal/store.js';
import { sha256Hex } from '../../journal/sha256.js';
import { completeness, type Completeness } from './checkpoints.js';
import { definitions, type Definitions, type RecordedDefinition } from './definitions.js';
import { internNames, memo, type StoredResult, type Memo, type MemoEntry } from './memo.js';
import type { Rejection } from './rejected-results.js';
import { packProcesses, processes, unpackProcesses, type PackedProcesses, type Processes } from '../fold/processes.js';
import type { Projection } from '../fold/projection.js';

const VERSION = 10;

/** The folds that every start of a workflow needs of its prior runs. */
export interface Index {
  readonly memo: Memo;
  readonly complete: Completeness;
  readonly definitions: Definitions;
  readonly processes: Processes;
}

export const index: Projection<Index> = {
  initial: () => ({
    memo: memo.initial(),
    complete: completeness.initial(),
    definitions: definitions.initial(),
    processes: processes.initial(),
  }),
  apply(state, event, place) {
    memo.apply(state.memo, event, place);
    if (event.type === 'op.started' || event.type === 'op.finished') return state; // most events are: they say nothing to the others
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

/** Columns of numbers; texts, runs and lists are numbered in tables of their own. */
const COLUMNS = [
  'fn',
  'fingerprint',
  'site',
  'declared',
  'scope',
  'inside',
  'attempt',
  'asked',
  'run',
  'seq',
  'offset',
  'bytes',
  'form',
  'endedMs',
  'elapsedMs',
  'sizeBytes',
  'costUsd',
] as const;
type Columns<Column> = { readonly [name in (typeof COLUMNS)[number]]: Column };
/** A number per call, or the one number that all calls share, which is usual in most columns. */
type Packed = number | readonly number[];

const NONE = -1;
/** Bits of the column `asked`. */
const BEFORE = 1;
const NOW = 2;
/** Bits of the column `form`. */
const TEXT = 1;
const SEALED = 2;
const CARRIES = 4;
const WORD = 8;
const FILES = 16;

interface Body {
  readonly covered: readonly Covered[];
  readonly strings: readonly string[];
  readonly insides: readonly (readonly string[])[];
  readonly runs: readonly RunRef[];
  readonly keys: readonly CallKey[];
  readonly previews: readonly (string | null)[];
  readonly columns: Columns<Packed>;
  /** The time from which the times in `endedMs` are counted. */
  readonly fromMs: number;
  readonly refused: readonly CallKey[];
  readonly rejected: readonly (readonly [CallKey, Rejection])[];
  readonly complete: readonly (readonly [string, boolean])[];
  readonly definitions: readonly (readonly [Fingerprint, RecordedDefinition])[];
  readonly called: readonly (readonly [string, number])[];
  readonly cleanedBy: number;
  readonly outlasting: readonly RunId[];
  /** By the place in `keys`. */
  readonly within: readonly (readonly [number, readonly number[]])[];
  readonly current: number;
  readonly scope: string | null;
  readonly pending: readonly (readonly [OpPath, CallKey, number])[];
  readonly open: readonly (readonly [OpPath, string])[];
  /** Absent in an index of a program that recorded no processes. */
  readonly processes?: PackedProcesses;
}

export function encodeSnapshot({ covered, index: { memo: state, complete, definitions: defined, processes: started } }: Snapshot): string {
  const strings = numbering<string>();
  const insides = numbering<readonly string[]>();
  const runs = numbering<RunRef>((ref) => `${ref.workflow}\n${ref.run}`);
  const keys: CallKey[] = [];
  const previews: (string | null)[] = [];
  const rows = columnsOf((): number[] => []);
  let fromMs: number | undefined;

  const put = (key: CallKey, entry: MemoEntry, asked: number): void => {
    const { result: answer } = entry;
    keys.push(key);
    previews.push(entry.preview ?? null);
    rows.fn.push(strings.of(entry.fn));
    rows.fingerprint.push(strings.of(entry.fingerprint));
    rows.site.push(strings.of(entry.site));
    rows.declared.push(strings.of(entry.declared));
    rows.scope.push(strings.of(entry.scope));
    rows.inside.push(insides.of(entry.inside));
    rows.attempt.push(entry.attempt ?? NONE);
    rows.asked.push(asked);
    rows.run.push(runs.of(answer?.ref));
    if (answer && fromMs === undefined && Number.isFinite(answer.endedMs)) fromMs = answer.endedMs;
    rows.seq.push(answer ? answer.seq : NONE);
    rows.offset.push(answer ? answer.position.offset : NONE);
    rows.bytes.push(answer ? answer.position.bytes : NONE);
    rows.form.push(answer ? formOf(answer) : NONE);
    rows.endedMs.push(answer ? answer.endedMs - (fromMs ?? 0) : NONE);
    rows.elapsedMs.push(answer ? answer.elapsedMs : NONE);
    rows.sizeBytes.push(answer && answer.sizeBytes !== answer.position.bytes ? answer.sizeBytes : NONE);
    rows.costUsd.push(answer?.costUsd ?? NONE);
  };
  for (const [key, entry] of state.entries) {
    put(key, entry, (state.calledBefore.has(key) ? BEFORE : 0) | (state.calledNow.has(key) ? NOW : 0));
  }
  const places = state.within.size === 0 ? undefined : new Map(keys.map((key, place) => [key, place]));
  const placeOf = (key: CallKey): number => places?.get(key) ?? NONE;
  // Pending calls follow the entries; `pending` has how many of the last rows these are, and for which operations.
  for (const { key, entry } of state.pending.values()) put(key, entry, 0);

  const body: Body = {
    covered,
    keys,
    previews,
    columns: columnsOf((name) => packed(rows[name])),
    fromMs: fromMs ?? 0,
    refused: [...state.refused],
    rejected: [...state.rejected],
    complete: [...complete],
    definitions: [...defined],
    processes: packProcesses(started),
    called: [...state.called].map(([fn, ref]) => [fn, runs.of(ref)] as const),
    cleanedBy: runs.of(state.cleanedBy),
    outlasting: [...state.outlasting],
    within: [...state.within].map(([key, around]) => [placeOf(key), [...around].map(placeOf)] as const),
    current: runs.of(state.current),
    scope: state.scope ?? null,
    pending: [...state.pending].map(([op, { key, failedUsd = NONE }]) => [op, key, failedUsd] as const),
    open: [...state.inFlight],
    strings: strings.all,
    insides: insides.all,
    runs: runs.all,
  };
  const text = JSON.stringify(body);
  return `${heading(text)}\n${text}`;
}

function columnsOf<Column>(make: (name: (typeof COLUMNS)[number]) => Column): Columns<Column> {
  return Object.fromEntries(COLUMNS.map((name) => [name, make(name)])) as Columns<Column>;
}

function packed(column: readonly number[]): Packed {
  const [first] = column;
  return first !== undefined && column.every((each) => each === first) ? first : column;
}

function formOf({ form, sealed, carries, hasFiles }: StoredResult): number {
  const kind = form === 'text' ? TEXT : form === 'word' ? WORD : 0;
  return kind | (sealed ? SEALED : 0) | (carries ? CARRIES : 0) | (hasFiles ? FILES : 0);
}

/** Undefined: not an index of this version, or not whole. */
export function decodeSnapshot(content: Uint8Array): Snapshot | undefined {
  const all = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const newline = all.indexOf(10);
  if (newline < 0) return undefined;
  const text = all.subarray(newline + 1);
  if (all.toString('latin1', 0, newline) !== heading(text)) return undefined;
  // Whole and of our version, so it has the shape that we gave it (INDEX-3).
  const body = JSON.parse(text.toString('utf8')) as Body;
  return {
    covered: body.covered,
    index: {
      memo: memoFrom(body),
      complete: new Map(body.complete),
      definitions: new Map(body.definitions),
      processes: unpackProcesses(body.processes),
    },
  };
}

function heading(body: string | Uint8Array): string {
  return `mlld index ${VERSION} ${sha256Hex(body)}`;
}

function memoFrom(body: Body): Memo {
  const state = memo.initial();
  const { strings, runs, keys, previews, fromMs } = body;
  const rows = columnsOf((name) => {
    const column = body.columns[name];
    return typeof column === 'number' ? new Array<number>(keys.length).fill(column) : column;
  });
  for (const text of strings) state.interned.set(text, text);
  const insides = body.insides.map((names) => internNames(state, names));

  const text = (number: number): string | undefined => (number === NONE ? undefined : strings[number]);
  const resultAt = (row: number): StoredResult | undefined => {
    const run = rows.run[row] as number;
    if (run === NONE) return undefined;
    const form = rows.form[row] as number;
    const bytes = rows.bytes[row] as number;
    const sizeBytes = rows.sizeBytes[row] as number;
    const costUsd = rows.costUsd[row] as number;
    return {
      ref: runs[run] as RunRef,
      seq: rows.seq[row] as Seq,
      position: { offset: rows.offset[row] as number, bytes },
      form: (form & TEXT) !== 0 ? 'text' : (form & WORD) !== 0 ? 'word' : undefined,
      sealed: (form & SEALED) !== 0,
      carries: (form & CARRIES) !== 0,
      hasFiles: (form & FILES) !== 0,
      endedMs: (rows.endedMs[row] ?? NaN) + fromMs, // JSON has no NaN
      elapsedMs: rows.elapsedMs[row] as number,
      sizeBytes: sizeBytes === NONE ? bytes : sizeBytes,
      costUsd: costUsd === NONE ? undefined : costUsd,
    };
  };
  const entryAt = (row: number): MemoEntry => {
    const attempt = rows.attempt[row] as number;
    return {
      fn: strings[rows.fn[row] as number] as string,
      fingerprint: text(rows.fingerprint[row] as number) as Fingerprint | undefined,
      site: text(rows.site[row] as number),
      declared: text(rows.declared[row] as number),
      preview: previews[row] ?? undefined,
      attempt: attempt === NONE ? undefined : attempt,
      scope: text(rows.scope[row] as number),
      inside: insides[rows.inside[row] as number] as readonly string[],
      result: resultAt(row),
    };
  };

  const asked = keys.length - body.pending.length;
  for (let row = 0; row < asked; row += 1) {
    const key = keys[row] as CallKey;
    const when = rows.asked[row] as number;
    state.entries.set(key, entryAt(row));
    if ((when & BEFORE) !== 0) state.calledBefore.add(key);
    if ((when & NOW) !== 0) state.calledNow.add(key);
  }
  body.pending.forEach(([op, key, failedUsd], place) =>
    state.pending.set(op, { key, entry: entryAt(asked + place), ...(failedUsd !== NONE && { failedUsd }) }),
  );
  for (const key of body.refused) state.refused.add(key);
  for (const [key, { from, result }] of body.rejected) {
    // JSON has no NaN and no undefined.
    const whole = result && { ...result, form: result.form, endedMs: (result.endedMs as number | null) ?? Number.NaN };
    state.rejected.set(key, { from, ...(whole && { result: whole }) });
  }
  for (const [fn, run] of body.called) state.called.set(fn, runs[run] as RunRef);
  for (const [op, fn] of body.open) state.inFlight.set(op, fn);
  state.cleanedBy = runs[body.cleanedBy];
  for (const run of body.outlasting) state.outlasting.add(run);
  const keyAt = (place: number): CallKey => keys[place] as CallKey;
  for (const [place, around] of body.within) state.within.set(keyAt(place), new Set(around.map(keyAt)));
  state.current = runs[body.current];
  state.scope = body.scope ?? undefined;
  return state;
}

/** Numbers things in the order of their first appearance. */
function numbering<Thing>(identity?: (thing: Thing) => unknown) {
  const numbers = new Map<unknown, number>();
  const all: Thing[] = [];
  // Neighbours are often the same.
  let last: Thing | undefined;
  let lastNumber = NONE;
  return {
    all,
    of(thing: Thing | undefined): number {
      if (thing === undefined) return NONE;
      if (thing === last) return lastNumber;
      const id = identity ? identity(thing) : thing;
      let number = numbers.get(id);
      if (number === undefined) {
        number = all.push(thing) - 1;
        numbers.set(id, number);
      }
      last = thing;
      lastNumber = number;
      return number;
    },
  };
}

/** Returns whether a workflow's runs, as they are now, begin with the runs that the index covers (INDEX-1). */
export function coversPrefix(covered: readonly Covered[], runs: readonly RunFile[]): boolean {
  return covered.every(({ run, bytes, from }, place) => {
    const now = runs[place];
    if (now?.ref.run !== run) return false;
    return from === undefined ? now.bytes === bytes : now.bytes >= from.offset;
  });
}
