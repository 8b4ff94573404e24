/**
 * Which questions were asked, and which of their answers are paid for and usable.
 *
 * M1 an answer is usable from its `call.completed` on, unless that says `unusable`; a later one replaces it
 * M2 `memo.invalidated` drops its keys, `memo.reset` everything before it; nothing brings an answer back but asking again
 * M3 refused answers of fork sources stay refused until a reset of reason `fresh` (or `clean`, which forgets the workflow)
 * M4 a dropped question keeps its place and its preview: lists stay in the order of first asking, cursors still find it
 * M5 the runs of a workflow are folded one after the other, oldest first: what is pending belongs to one run
 * M6 a result that was taken out of the journal is no answer, and what it had replaced doesn't come back
 * M7 dropping takes what there was: what a run that goes on beside answers later stays, although its journal is folded first
 * M8 a question that was asked inside an llm call comes up when that call is executed, not when it is served; one asked outside of
 *    them, when the script gets there: as it did since the last run that completed
 */
import type { EventOf, Payload, ResultForm } from '../../journal/event.js';
import type { CallKey, EventRef, Fingerprint, OpPath, RunId, RunRef, Seq } from '../../journal/ids.js';
import type { Position } from '../../journal/store.js';
import { ancestorsOf, nameIn, parentOf } from '../fold/op-path.js';
import { previewOf } from '../fold/preview.js';
import type { Place, Projection } from '../fold/projection.js';

/** Where a result lies: the `call.completed` that holds it. */
export interface StoredResult {
  readonly ref: RunRef;
  readonly seq: Seq;
  readonly position: Position;
  readonly form: ResultForm | undefined;
  /** It takes a key to read it. */
  readonly sealed: boolean;
  /** It has other labels or source markers than its arguments and its function: they stand beside it. */
  readonly carries: boolean;
  readonly endedMs: number;
  readonly elapsedMs: number;
  /** Bytes that the result takes: its blob, or its line in the journal. */
  readonly sizeBytes: number;
}

/** A question of the workflow, in the order of first asking. */
export interface MemoEntry {
  /** Empty when the line that named the function is damaged. */
  readonly fn: string;
  readonly fingerprint: Fingerprint | undefined;
  readonly site: string | undefined;
  readonly declared: string | undefined;
  /** First argument as text, clipped; undefined when there is none or it may not be read. */
  readonly preview: string | undefined;
  readonly attempt: number | undefined;
  /** The checkpoint under which it was asked last. */
  readonly scope: string | undefined;
  /** Names of the ordinary functions it was ever asked inside, sorted. */
  readonly inside: readonly string[];
  /** Undefined when no answer is usable. */
  readonly result: StoredResult | undefined;
}

/** A question that has a usable answer. */
export type UsableEntry = MemoEntry & { readonly result: StoredResult };

interface Pending {
  readonly key: CallKey;
  readonly entry: MemoEntry;
}

export interface Memo {
  readonly entries: Map<CallKey, MemoEntry>;
  /** Answers of fork sources that this workflow does not borrow. */
  readonly refused: Set<CallKey>;
  /** Every function that was ever called, and the latest run that did. */
  readonly called: Map<string, RunRef>;
  /** The run that said `clean`: it and all runs before it are forgotten. */
  cleanedBy: RunRef | undefined;
  /** But for those that were going on then. */
  readonly outlasting: Set<RunId>;
  /** Questions that were asked inside llm calls, and the questions of those (M8). */
  readonly within: Map<CallKey, Set<CallKey>>;
  /** Questions asked outside of llm calls by the last run that completed and those since (M8), but for the run that is being folded. */
  readonly calledBefore: Set<CallKey>;
  // The run that is being folded (M5).
  current: RunRef | undefined;
  scope: string | undefined;
  readonly calledNow: Set<CallKey>;
  readonly pending: Map<OpPath, Pending>;
  /** Calls of ordinary functions that have not ended. */
  readonly inFlight: Map<OpPath, string>;
  readonly interned: Map<string, string>;
  readonly insides: Map<string, readonly string[]>;
}

export const memo: Projection<Memo> = {
  initial: () => ({
    entries: new Map(),
    refused: new Set(),
    called: new Map(),
    cleanedBy: undefined,
    outlasting: new Set(),
    within: new Map(),
    calledBefore: new Set(),
    current: undefined,
    scope: undefined,
    calledNow: new Set(),
    pending: new Map(),
    inFlight: new Map(),
    interned: new Map(),
    insides: new Map(),
  }),
  apply(state, event, place) {
    if (state.current?.run !== place.ref.run) enterRun(state, place.ref);
    switch (event.type) {
      case 'op.started':
        if (event.kind === 'exe') enterFunction(state, event);
        return state;
      case 'op.finished':
        if (state.inFlight.size > 0) state.inFlight.delete(event.op);
        return state;
      case 'call.started':
        return startCall(state, event);
      case 'call.completed':
        return completeCall(state, event, place);
      case 'call.reused':
        return reuseCall(state, event);
      case 'call.failed':
        state.pending.delete(event.op);
        return state;
      case 'checkpoint.reached':
        state.scope = event.name;
        return state;
      case 'checkpoint.closed':
        state.scope = undefined;
        return state;
      case 'memo.invalidated':
        return invalidate(state, event);
      case 'memo.reset':
        return reset(state, event, place);
      case 'run.finished':
        if (event.status === 'completed') state.calledBefore.clear();
        return state;
      default:
        return state;
    }
  },
};

/** The answer to a question, if one is usable. */
export function usableEntry(state: Memo, key: CallKey): UsableEntry | undefined {
  const entry = state.entries.get(key);
  return entry !== undefined && isUsable(entry) ? entry : undefined;
}

/** All usable answers in the order in which their questions were first asked. */
export function* usable(state: Memo): Generator<readonly [CallKey, UsableEntry]> {
  for (const [key, entry] of state.entries) if (isUsable(entry)) yield [key, entry];
}

function isUsable(entry: MemoEntry): entry is UsableEntry {
  return entry.result !== undefined;
}

function enterRun(state: Memo, ref: RunRef): void {
  state.current = ref;
  state.scope = undefined;
  for (const key of state.calledNow) state.calledBefore.add(key);
  state.calledNow.clear();
  state.pending.clear();
  state.inFlight.clear();
}

function enterFunction(state: Memo, { op, labels }: EventOf<'op.started'>): void {
  // An llm call asks by itself, and counts when it has asked: a crash may come between. Only what ordinary functions contain is asked *inside* them.
  if (labels?.includes('llm') === true) return;
  const fn = intern(state, nameIn(op));
  noteCall(state, fn);
  state.inFlight.set(op, fn);
}

function noteCall(state: Memo, fn: string): void {
  if (state.current !== undefined && state.called.get(fn)?.run !== state.current.run) state.called.set(fn, state.current);
}

function startCall(state: Memo, event: EventOf<'call.started'>): Memo {
  const fn = intern(state, event.fn);
  noteCall(state, fn);
  notePlace(state, event);
  const known = state.entries.get(event.key);
  const entry: MemoEntry = {
    fn,
    fingerprint: intern(state, event.fingerprint) as Fingerprint,
    site: internMaybe(state, event.site),
    declared: internMaybe(state, event.declared),
    preview: event.preview ?? previewOf(event.args) ?? known?.preview,
    attempt: event.attempt,
    scope: internMaybe(state, state.scope),
    inside: insideOf(state, event.op, known?.inside),
    result: undefined,
  };
  state.pending.set(event.op, { key: event.key, entry });
  // Its place in the order is that of the asking (M4): an outer call ends after the calls inside it.
  if (known === undefined) state.entries.set(event.key, entry);
  else noteInside(state, event.key, known, entry.inside);
  return state;
}

function completeCall(state: Memo, event: EventOf<'call.completed'>, place: Place): Memo {
  const pending = state.pending.get(event.op);
  state.pending.delete(event.op);
  if (event.unusable !== undefined) return state;
  const { key, result } = event;
  // M6
  if ('redacted' in result) return removeResult(state, key);
  const stored: StoredResult = {
    ref: place.ref,
    seq: event.seq,
    position: place.position,
    form: event.form,
    sealed: isSealed(result) || (event.notes !== undefined && isSealed(event.notes)),
    carries: event.notes !== undefined || event.labels !== undefined || event.sources !== undefined || event.removed !== undefined,
    endedMs: Date.parse(event.ts),
    elapsedMs: event.elapsedMs,
    sizeBytes: 'blob' in result ? result.bytes : place.position.bytes,
  };
  // A damaged `call.started` loses the names, not the paid answer.
  const entry = pending?.key === key ? pending.entry : (state.entries.get(key) ?? nameless(state, event.op));
  state.entries.set(key, { ...entry, result: stored });
  return state;
}

function isSealed(payload: Payload): boolean {
  return 'sealed' in payload || ('blob' in payload && payload.keyId !== undefined);
}

function removeResult(state: Memo, key: CallKey): Memo {
  const entry = state.entries.get(key);
  if (entry !== undefined) state.entries.set(key, { ...entry, result: undefined });
  return state;
}

function nameless(state: Memo, op: OpPath): MemoEntry {
  return {
    fn: '',
    fingerprint: undefined,
    site: undefined,
    declared: undefined,
    preview: undefined,
    attempt: undefined,
    scope: internMaybe(state, state.scope),
    inside: insideOf(state, op, undefined),
    result: undefined,
  };
}

/** A borrowed answer stays its owner's; that it was asked for, and where, is one's own to know: a function target covers it. */
function reuseCall(state: Memo, event: EventOf<'call.reused'>): Memo {
  const fn = intern(state, event.fn);
  noteCall(state, fn);
  notePlace(state, event);
  const known = state.entries.get(event.key);
  if (known !== undefined) noteInside(state, event.key, known, insideOf(state, event.op, known.inside));
  else state.entries.set(event.key, { ...nameless(state, event.op), fn, preview: event.preview });
  return state;
}

/** M8 */
function notePlace(state: Memo, { key, op }: { readonly key: CallKey; readonly op: OpPath }): void {
  for (let path = state.pending.size === 0 ? undefined : parentOf(op); path !== undefined; path = parentOf(path)) {
    if (path.endsWith(']')) continue; // an iteration: no call
    const around = state.pending.get(path)?.key;
    if (around === undefined) continue;
    const known = state.within.get(key);
    if (known === undefined) state.within.set(key, new Set([around]));
    else known.add(around);
    return;
  }
  state.calledNow.add(key);
}

function noteInside(state: Memo, key: CallKey, known: MemoEntry, inside: readonly string[]): void {
  if (inside !== known.inside) state.entries.set(key, { ...known, inside });
}

function invalidate(state: Memo, { keys, borrowed, during }: EventOf<'memo.invalidated'>): Memo {
  for (const key of keys) {
    if (borrowed === true) {
      state.refused.add(key);
      continue;
    }
    const entry = state.entries.get(key);
    if (entry?.result !== undefined && !cameLater(entry.result, during)) state.entries.set(key, { ...entry, result: undefined });
  }
  return state;
}

function reset(state: Memo, { reason, during }: EventOf<'memo.reset'>, { ref }: Place): Memo {
  for (const [key, { result }] of state.entries) {
    if (result !== undefined && cameLater(result, during)) continue;
    state.entries.delete(key);
    state.within.delete(key);
    state.calledBefore.delete(key);
    state.calledNow.delete(key);
  }
  for (const around of state.within.values()) for (const key of around) if (!state.entries.has(key)) around.delete(key);
  state.refused.clear();
  if (reason === 'clean') {
    state.outlasting.clear();
    for (const { run } of during ?? []) state.outlasting.add(run);
    for (const [fn, { run }] of state.called) if (!state.outlasting.has(run)) state.called.delete(fn);
    state.cleanedBy = ref;
  }
  return state;
}

/** M7: of a run that was going on, and behind what was recorded of it then. */
export function cameLater({ ref, seq }: Pick<StoredResult, 'ref' | 'seq'>, during: readonly EventRef[] | undefined): boolean {
  const end = during?.find(({ run }) => run === ref.run);
  return end !== undefined && seq > end.seq;
}

/** The ordinary functions around an operation, joined with those known already. One array per distinct set. */
function insideOf(state: Memo, op: OpPath, known: readonly string[] = NOWHERE): readonly string[] {
  if (state.inFlight.size === 0) return known;
  let names: Set<string> | undefined;
  for (const path of ancestorsOf(op)) {
    const fn = state.inFlight.get(path);
    if (fn === undefined || known.includes(fn)) continue;
    names ??= new Set(known);
    names.add(fn);
  }
  return names === undefined ? known : internNames(state, [...names].sort());
}

const NOWHERE: readonly string[] = [];

/** One array per distinct set of names. */
export function internNames(state: Memo, names: readonly string[]): readonly string[] {
  if (names.length === 0) return NOWHERE;
  const id = names.join('\n');
  const shared = state.insides.get(id);
  if (shared !== undefined) return shared;
  state.insides.set(id, names);
  return names;
}

function intern(state: Memo, text: string): string {
  const shared = state.interned.get(text);
  if (shared !== undefined) return shared;
  state.interned.set(text, text);
  return text;
}

function internMaybe(state: Memo, text: string | undefined): string | undefined {
  return text === undefined ? undefined : intern(state, text);
}
