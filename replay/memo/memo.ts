/**
 * Folds which calls were made, and which of their results are paid for and usable.
 *
 * MEMO-1 a result is usable from its `call.completed` on, unless that says `unusable`; a later one replaces it
 * MEMO-2 `memo.invalidated` removes the results of its keys, `memo.reset` all before it; only executing the call again brings one back
 * MEMO-3 refused forked results are refused until a reset of reason `fresh` (or `clean`, which resets the workflow)
 * MEMO-4 an invalidated call keeps its place and its preview: lists keep the order in which calls were first made, cursors still find it
 * MEMO-5 the runs of a workflow are folded one after the other, oldest first: pending calls belong to one run
 * MEMO-6 a redacted result is not usable, and the one that it had replaced does not come back
 * MEMO-7 an invalidation covers what was recorded then, and not what a concurrent run records later, although that is folded first
 * MEMO-8 a call that was made inside an llm call is predicted when that call is executed, not when it is reused; one made outside of
 *        llm calls is predicted if the last completed run or a later one made it, or waited for a worker to execute it
 * MEMO-10 a superseded result is not usable (another run of the store has the one that is used), nor one that no guard has judged
 * MEMO-11 a simulated result takes the place of no other one: trying a workflow costs no result that was paid for
 * MEMO-9 a rejected result is not usable until it is restored, and no restoration outlasts a later result (`rejected-results.ts`)
 */
import { addUsd } from '../../journal/facts/add-usd.js';
import { simulates } from '../../journal/facts/simulated-definition.js';
import type { EventOf } from '../../journal/event.js';
import type { CallKey, EventRef, Fingerprint, OpPath, RunId, RunRef } from '../../journal/ids.js';
import { intern, internMaybe, internNames, NO_NAMES, type InternedNames } from '../fold/interned-names.js';
import { ancestorsOf, nameIn, parentOf } from '../fold/op-path.js';
import { previewOf } from '../fold/preview.js';
import type { Place, Projection } from '../fold/projection.js';
import type { KeyedStates } from './keyed-states.js';
import { cameLater, storedResult, type StoredResult } from './stored-result.js';
import { beginJudging, denyUnjudged, forgetUnjudged, noteAsked, receiveResult, type UnjudgedResults } from './unjudged-results.js';
import { forgetRejections, rejectResult, restoreResult, type Rejection } from './rejected-results.js';

/** A call of the workflow; entries are in the order in which the calls were first made. */
export interface MemoEntry {
  /** Empty when the line that named the function is damaged. */
  readonly fn: string;
  readonly fingerprint: Fingerprint | undefined;
  readonly site: string | undefined;
  readonly declared: string | undefined;
  /** First argument as text, clipped; undefined when there is none or it may not be read. */
  readonly preview: string | undefined;
  readonly attempt: number | undefined;
  /** The checkpoint under which it was made last. */
  readonly scope: string | undefined;
  /** Names of the ordinary functions it was ever made inside, sorted. */
  readonly inside: readonly string[];
  /** Undefined when no result is usable. */
  readonly result: StoredResult | undefined;
}

/** A call that has a usable result. */
export type UsableEntry = MemoEntry & { readonly result: StoredResult };

interface Pending {
  readonly key: CallKey;
  readonly entry: MemoEntry;
  /** The known cost of the attempts of this call that failed before. */
  readonly failedUsd?: number;
}

export interface Memo extends InternedNames {
  readonly entries: KeyedStates<MemoEntry>;
  /** Results of fork sources that this workflow may not reuse. */
  readonly refused: Set<CallKey>;
  /** Results that were rejected and not replaced since (MEMO-9). */
  readonly rejected: Map<CallKey, Rejection>;
  readonly unjudged: UnjudgedResults;
  /** The definitions of simulated calls. */
  readonly simulated: Set<Fingerprint>;
  /** Every function that was ever called, and the latest run that did. */
  readonly called: Map<string, RunRef>;
  /** The run that recorded `clean`: it and all runs before it no longer count. */
  cleanedBy: RunRef | undefined;
  /** Runs before `cleanedBy` that count all the same, because they were in flight then. */
  readonly outlasting: Set<RunId>;
  /** Calls made inside llm calls, each with the keys of the calls around it (MEMO-8). */
  readonly within: KeyedStates<Set<CallKey>>;
  /** Calls made outside of llm calls, each with the number of the last run that did (MEMO-8). */
  readonly calledIn: KeyedStates<number>;
  /** The number of the last completed run: what it and the runs since called is predicted. */
  calledFrom: number;
  /** Counts the runs, up to the one that is being folded. */
  runNumber: number;
  // The run that is being folded (MEMO-5).
  current: RunRef | undefined;
  scope: string | undefined;
  readonly pending: Map<OpPath, Pending>;
  /** Results of other runs in the place of which this run has put its own (MEMO-10). */
  readonly replaced: Map<CallKey, StoredResult>;
  /** Calls of ordinary functions that have not ended. */
  readonly inFlight: Map<OpPath, string>;
}

export const memo: Projection<Memo> = {
  initial: () => ({
    entries: new Map(),
    refused: new Set(),
    rejected: new Map(),
    unjudged: new Map(),
    simulated: new Set(),
    called: new Map(),
    cleanedBy: undefined,
    outlasting: new Set(),
    within: new Map(),
    calledIn: new Map(),
    calledFrom: 0,
    runNumber: 0,
    current: undefined,
    scope: undefined,
    pending: new Map(),
    replaced: new Map(),
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
        if (event.received) beginJudging(state.unjudged, event, place);
        return startCall(state, event);
      case 'call.offered':
        return offerCall(state, event);
      case 'call.completed':
        return completeCall(state, event, place);
      case 'call.superseded':
        return supersede(state, event, place);
      case 'call.reused':
        return reuseCall(state, event);
      case 'call.failed':
        denyUnjudged(state.unjudged, event, place);
        return failCall(state, event);
      case 'result.received':
        if (!isOutranked(state, event)) receiveResult(state.unjudged, event, place, state.pending.get(event.op));
        return state;
      case 'definition.recorded':
        if (simulates(event.parts)) state.simulated.add(event.fingerprint);
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
      case 'result.rejected':
        return rejectResult(state, event);
      case 'result.restored':
        return restoreResult(state, event);
      case 'run.finished':
        if (event.status === 'completed' && event.marked === undefined && event.worker === undefined) state.calledFrom = state.runNumber;
        return state;
      default:
        return state;
    }
  },
};

/** Returns the entry of a call that has a usable result. */
export function usableEntry(state: Pick<Memo, 'entries'>, key: CallKey): UsableEntry | undefined {
  const entry = state.entries.get(key);
  return entry !== undefined && isUsable(entry) ? entry : undefined;
}

/** Yields all entries with a usable result, in the order in which their calls were first made. */
export function* usable(state: Memo): Generator<readonly [CallKey, UsableEntry]> {
  for (const [key, entry] of state.entries) if (isUsable(entry)) yield [key, entry];
}

/** Returns whether a result is simulated, as far as its definition is known. */
export function isSimulated({ simulated }: Pick<Memo, 'simulated'>, { fingerprint }: Pick<MemoEntry, 'fingerprint'>): boolean {
  return fingerprint !== undefined && simulated.has(fingerprint);
}

function isUsable(entry: MemoEntry): entry is UsableEntry {
  return entry.result !== undefined;
}

function enterRun(state: Memo, ref: RunRef): void {
  state.current = ref;
  state.scope = undefined;
  state.runNumber++;
  state.pending.clear();
  state.replaced.clear();
  state.inFlight.clear();
}

function enterFunction(state: Memo, { op, labels }: EventOf<'op.started'>): void {
  // An llm call counts when it has started, because a crash may come before that. Only ordinary functions have calls *inside* them.
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
  const failedUsd = event.try === undefined ? undefined : state.pending.get(event.op)?.failedUsd;
  state.pending.set(event.op, { key: event.key, entry, ...(failedUsd !== undefined && { failedUsd }) });
  // Its place in the order is that of its start (MEMO-4): an outer call ends after the calls inside it.
  if (known === undefined) state.entries.set(event.key, entry);
  else noteInside(state, event.key, withPreview(state, event.key, known, entry.preview), entry.inside);
  return state;
}

/** The first event of a call may have been an offer, which does not say its arguments. */
function withPreview(state: Memo, key: CallKey, known: MemoEntry, preview: string | undefined): MemoEntry {
  if (known.preview !== undefined || preview === undefined) return known;
  const entry = { ...known, preview };
  state.entries.set(key, entry);
  return entry;
}

/** A worker may never have executed it, where its run was stopped. MEMO-8 */
function offerCall(state: Memo, event: EventOf<'call.offered'>): Memo {
  const { key, op } = event;
  const fn = intern(state, event.fn);
  noteCall(state, fn);
  notePlace(state, event);
  if (state.entries.get(key) === undefined) {
    const sites = { site: internMaybe(state, event.site), declared: internMaybe(state, event.declared) };
    state.entries.set(key, { ...nameless(state, op), fn, ...sites });
  }
  return state;
}

function completeCall(state: Memo, event: EventOf<'call.completed'>, place: Place): Memo {
  const pending = state.pending.get(event.op);
  const outranked = isOutranked(state, event);
  state.pending.delete(event.op);
  if (outranked) return state;
  const { key, result } = event;
  const waited = state.unjudged.get(key)?.result;
  state.unjudged.delete(key);
  if (event.unusable !== undefined) return state;
  state.rejected.delete(key);
  // MEMO-6
  if ('redacted' in result) return removeResult(state, key);
  const stored = storedResult(event, place, pending?.failedUsd, waited);
  // A damaged `call.started` loses the names, not the paid result.
  const known = state.entries.get(key);
  const entry = pending?.key === key ? pending.entry : (known ?? nameless(state, event.op));
  if (known?.result !== undefined && known.result.ref.run !== place.ref.run) state.replaced.set(key, known.result);
  state.entries.set(key, { ...entry, result: stored });
  return state;
}

/** Returns whether a result is simulated, and its call has one that is not: usable, waiting for guards, or rejected. MEMO-11 */
function isOutranked(state: Memo, { op, key }: { readonly op: OpPath; readonly key: CallKey }): boolean {
  const pending = state.simulated.size === 0 ? undefined : state.pending.get(op);
  if (pending?.key !== key || !isSimulated(state, pending.entry)) return false;
  const others = [usableEntry(state, key), state.unjudged.get(key)];
  return state.rejected.has(key) || others.some((other) => other !== undefined && !isSimulated(state, other));
}

/** An attempt that another one follows leaves its call pending, with what it had cost. */
function failCall(state: Memo, { op, retryInMs, usage }: EventOf<'call.failed'>): Memo {
  const pending = state.pending.get(op);
  if (pending === undefined || retryInMs === undefined) state.pending.delete(op);
  else if (usage?.costUsd !== undefined) state.pending.set(op, { ...pending, failedUsd: addUsd(pending.failedUsd ?? 0, usage.costUsd) });
  return state;
}

/** MEMO-10 */
function supersede(state: Memo, { key, of, by }: EventOf<'call.superseded'>, { ref }: Place): Memo {
  const entry = state.entries.get(key);
  if (entry?.result?.ref.run !== ref.run || entry.result.seq !== of) return state;
  const before = state.replaced.get(key);
  const winner = before?.ref.run === by.run && before.seq === by.seq ? before : undefined; // else its run is folded later
  state.entries.set(key, { ...entry, result: winner });
  return state;
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

/** A forked result remains its workflow's own. The memo notes that and where the call was made, so that a function target covers it. */
function reuseCall(state: Memo, event: EventOf<'call.reused'>): Memo {
  const fn = intern(state, event.fn);
  noteCall(state, fn);
  notePlace(state, event);
  const known = state.entries.get(event.key);
  if (known !== undefined) noteInside(state, event.key, known, insideOf(state, event.op, known.inside));
  else state.entries.set(event.key, { ...nameless(state, event.op), fn, preview: event.preview });
  return state;
}

/** MEMO-8 */
function notePlace(state: Memo, { key, op }: { readonly key: CallKey; readonly op: OpPath }): void {
  for (let path = state.pending.size === 0 ? undefined : parentOf(op); path !== undefined; path = parentOf(path)) {
    if (path.endsWith(']')) continue; // an iteration: no call
    const around = state.pending.get(path)?.key;
    if (around === undefined) continue;
    const known = state.within.get(key);
    if (!known?.has(around)) state.within.set(key, (known ?? new Set<CallKey>()).add(around));
    if (state.current) noteAsked(state.unjudged, key, { key: around, path }, state.current.run);
    return;
  }
  state.calledIn.set(key, state.runNumber);
}

function noteInside(state: Memo, key: CallKey, known: MemoEntry, inside: readonly string[]): void {
  if (inside !== known.inside) state.entries.set(key, { ...known, inside });
}

function invalidate(state: Memo, event: EventOf<'memo.invalidated'>): Memo {
  const { keys, borrowed, during } = event;
  forgetRejections(state, event);
  forgetUnjudged(state.unjudged, event, during);
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
  if (during === undefined) {
    for (const states of [state.entries, state.within, state.calledIn]) states.clear(); // reads nothing of an index
    state.simulated.clear();
  } else forgetAllBut(state, during);
  state.refused.clear();
  state.rejected.clear();
  forgetUnjudged(state.unjudged, { keys: [...state.unjudged.keys()] }, during);
  if (reason === 'clean') {
    state.outlasting.clear();
    for (const { run } of during ?? []) state.outlasting.add(run);
    for (const [fn, { run }] of state.called) if (!state.outlasting.has(run)) state.called.delete(fn);
    state.cleanedBy = ref;
  }
  return state;
}

function forgetAllBut(state: Memo, during: readonly EventRef[]): void {
  for (const [key, { result }] of state.entries) {
    if (result !== undefined && cameLater(result, during)) continue;
    state.entries.delete(key);
    state.within.delete(key);
    state.calledIn.delete(key);
  }
  for (const around of state.within.values()) for (const key of around) if (!state.entries.has(key)) around.delete(key);
}

/** The ordinary functions around an operation, joined with those known already. One array per distinct set. */
function insideOf(state: Memo, op: OpPath, known: readonly string[] = NO_NAMES): readonly string[] {
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
