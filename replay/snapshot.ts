/**
 * The index of a workflow: what every start needs of its past, folded once and kept beside the runs. It may be deleted,
 * damaged or of another version at any time; then it is made again.
 *
 * S1 it covers a prefix of the workflow's runs, and only the last of them may still have been running
 * S2 index, folded on with what came since, equals the fold of everything
 * S3 a body that its check value doesn't fit is no index: a flipped bit must not bring a dropped answer back
 */
import type { CallKey, Fingerprint, OpPath, RunId, RunRef, Seq } from '../journal/ids.js';
import type { RunFile, ScanOptions } from '../journal/store.js';
import { completeness, type Completeness } from './checkpoints.js';
import { definitions, type Definitions, type Parts } from './definitions.js';
import { internNames, memo, type Answer, type Memo, type Question } from './memo.js';
import type { Projection } from './projection.js';
import { sha256Hex } from '../journal/sha256.js';

const VERSION = 7;

/** What every start needs of a workflow's past. */
export interface Index {
  readonly memo: Memo;
  readonly complete: Completeness;
  readonly definitions: Definitions;
}

export const index: Projection<Index> = {
  initial: () => ({ memo: memo.initial(), complete: completeness.initial(), definitions: definitions.initial() }),
  apply(state, event, place) {
    memo.apply(state.memo, event, place);
    completeness.apply(state.complete, event, place);
    definitions.apply(state.definitions, event, place);
    return state;
  },
};

/** A run that the index covers. */
export interface Covered {
  readonly run: RunId;
  /** Of a run whose writer is gone: its size. A run of another size is not the one that was folded. */
  readonly bytes?: number | undefined;
  /** Of a run that had not: where to go on. */
  readonly from?: ScanOptions['from'];
}

export interface Snapshot {
  readonly covered: readonly Covered[];
  readonly index: Index;
}

/** Columns of `rows`, a flat array of numbers: strings by their place in `strings`, -1 for none. */
const COLUMNS = [
  'fn',
  'fingerprint',
  'site',
  'declared',
  'scope',
  'inside',
  'attempt',
  'run',
  'seq',
  'offset',
  'bytes',
  'form',
  'endedMs',
  'elapsedMs',
  'sizeBytes',
] as const;
const NONE = -1;
/** Bits of the column `form`. */
const TEXT = 1;
const SEALED = 2;
const CARRIES = 4;
const WORD = 8;

interface Body {
  readonly covered: readonly Covered[];
  readonly strings: readonly string[];
  readonly insides: readonly (readonly string[])[];
  readonly runs: readonly RunRef[];
  readonly keys: readonly CallKey[];
  readonly previews: readonly (string | null)[];
  readonly rows: readonly number[];
  readonly refused: readonly CallKey[];
  readonly complete: readonly (readonly [string, boolean])[];
  readonly definitions: readonly (readonly [Fingerprint, Parts])[];
  readonly called: readonly (readonly [string, number])[];
  readonly cleanedBy: number;
  readonly outlasting: readonly RunId[];
  // These three by the place in `keys`.
  readonly within: readonly (readonly [number, readonly number[]])[];
  readonly askedBefore: readonly number[];
  readonly askedNow: readonly number[];
  readonly current: number;
  readonly scope: string | null;
  readonly pending: readonly (readonly [OpPath, CallKey])[];
  readonly open: readonly (readonly [OpPath, string])[];
}

export function encodeSnapshot({ covered, index: { memo: state, complete, definitions: defined } }: Snapshot): string {
  const strings = numbering<string>();
  const insides = numbering<readonly string[]>();
  const runs = numbering<RunRef>((ref) => `${ref.workflow}\n${ref.run}`);
  const keys: CallKey[] = [];
  const previews: (string | null)[] = [];
  const rows: number[] = [];

  const put = (key: CallKey, question: Question): void => {
    const { answer } = question;
    keys.push(key);
    previews.push(question.preview ?? null);
    rows.push(
      strings.of(question.fn),
      strings.of(question.fingerprint),
      strings.of(question.site),
      strings.of(question.declared),
      strings.of(question.scope),
      insides.of(question.inside),
      question.attempt ?? NONE,
    );
    if (answer === undefined) rows.push(NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE);
    else {
      const { ref, seq, position, form, sealed, carries, endedMs, elapsedMs, sizeBytes } = answer;
      const kind = (form === 'text' ? TEXT : form === 'word' ? WORD : 0) | (sealed ? SEALED : 0) | (carries ? CARRIES : 0);
      rows.push(runs.of(ref), seq, position.offset, position.bytes, kind, endedMs, elapsedMs, sizeBytes);
    }
  };
  const places = numbering<CallKey>();
  for (const [key, question] of state.questions) {
    places.of(key);
    put(key, question);
  }
  // What is pending follows the questions; `pending` tells how many of the last rows these are, and for which operations.
  for (const { key, question } of state.pending.values()) put(key, question);

  const body: Body = {
    covered,
    keys,
    previews,
    rows,
    refused: [...state.refused],
    complete: [...complete],
    definitions: [...defined],
    called: [...state.called].map(([fn, ref]) => [fn, runs.of(ref)] as const),
    cleanedBy: runs.of(state.cleanedBy),
    outlasting: [...state.outlasting],
    within: [...state.within].map(([key, around]) => [places.of(key), [...around].map(places.of)] as const),
    askedBefore: [...state.askedBefore].map(places.of),
    askedNow: [...state.askedNow].map(places.of),
    current: runs.of(state.current),
    scope: state.scope ?? null,
    pending: [...state.pending].map(([op, { key }]) => [op, key] as const),
    open: [...state.open],
    strings: strings.all,
    insides: insides.all,
    runs: runs.all,
  };
  const text = JSON.stringify(body);
  return `${heading(text)}\n${text}`;
}

/** Undefined: not an index of this version, or not whole. */
export function decodeSnapshot(content: Uint8Array): Snapshot | undefined {
  const all = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const newline = all.indexOf(10);
  if (newline < 0) return undefined;
  const text = all.subarray(newline + 1);
  if (all.toString('latin1', 0, newline) !== heading(text)) return undefined;
  // Whole and of our version, so it has the shape that we gave it (S3).
  const body = JSON.parse(text.toString('utf8')) as Body;
  return {
    covered: body.covered,
    index: { memo: memoFrom(body), complete: new Map(body.complete), definitions: new Map(body.definitions) },
  };
}

function heading(body: string | Uint8Array): string {
  return `mlld index ${VERSION} ${sha256Hex(body)}`;
}

function memoFrom(body: Body): Memo {
  const state = memo.initial();
  const { strings, runs, rows, keys, previews } = body;
  for (const text of strings) state.interned.set(text, text);
  const insides = body.insides.map((names) => internNames(state, names));

  const text = (number: number): string | undefined => (number === NONE ? undefined : strings[number]);
  const answerAt = (at: number): Answer | undefined => {
    const run = rows[at] as number;
    if (run === NONE) return undefined;
    const form = rows[at + 4] as number;
    return {
      ref: runs[run] as RunRef,
      seq: rows[at + 1] as Seq,
      position: { offset: rows[at + 2] as number, bytes: rows[at + 3] as number },
      form: (form & TEXT) !== 0 ? 'text' : (form & WORD) !== 0 ? 'word' : undefined,
      sealed: (form & SEALED) !== 0,
      carries: (form & CARRIES) !== 0,
      endedMs: rows[at + 5] as number,
      elapsedMs: rows[at + 6] as number,
      sizeBytes: rows[at + 7] as number,
    };
  };
  const questionAt = (row: number): Question => {
    const at = row * COLUMNS.length;
    const attempt = rows[at + 6] as number;
    return {
      fn: strings[rows[at] as number] as string,
      fingerprint: text(rows[at + 1] as number) as Fingerprint | undefined,
      site: text(rows[at + 2] as number),
      declared: text(rows[at + 3] as number),
      preview: previews[row] ?? undefined,
      attempt: attempt === NONE ? undefined : attempt,
      scope: text(rows[at + 4] as number),
      inside: insides[rows[at + 5] as number] as readonly string[],
      answer: answerAt(at + 7),
    };
  };

  const asked = keys.length - body.pending.length;
  for (let row = 0; row < asked; row += 1) state.questions.set(keys[row] as CallKey, questionAt(row));
  body.pending.forEach(([op, key], place) => state.pending.set(op, { key, question: questionAt(asked + place) }));
  for (const key of body.refused) state.refused.add(key);
  for (const [fn, run] of body.called) state.called.set(fn, runs[run] as RunRef);
  for (const [op, fn] of body.open) state.open.set(op, fn);
  state.cleanedBy = runs[body.cleanedBy];
  for (const run of body.outlasting) state.outlasting.add(run);
  const keyAt = (place: number): CallKey => keys[place] as CallKey;
  for (const [place, around] of body.within) state.within.set(keyAt(place), new Set(around.map(keyAt)));
  for (const place of body.askedBefore) state.askedBefore.add(keyAt(place));
  for (const place of body.askedNow) state.askedNow.add(keyAt(place));
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

/** Whether a workflow's runs, as they are now, begin with what the index covers (S1). */
export function coversPrefix(covered: readonly Covered[], runs: readonly RunFile[]): boolean {
  return covered.every(({ run, bytes, from }, place) => {
    const now = runs[place];
    if (now?.ref.run !== run) return false;
    return from === undefined ? now.bytes === bytes : now.bytes >= from.offset;
  });
}
