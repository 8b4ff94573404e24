/**
 * Folds the runs of a workflow up to one run, oldest first, to the reason for which each llm call of it was reused or executed.
 *
 * EXPLAIN-1 the reason is the one that held when the call was made: later events never change it
 * EXPLAIN-2 what was redacted after the run had begun was there for it: it was reused, invalidated or reset as if it still were
 * EXPLAIN-3 arguments and results stay where they are; a call keeps the places, and the caller reads them for a difference
 * EXPLAIN-4 a failed attempt of a pipeline's stage is no call: the next attempt makes it again (calls.md 14.1)
 * EXPLAIN-5 a call inside a stage or an agent is not offered the results of equal calls, so that one which this run just made is no reason
 */
import type { EventOf, JournalEvent } from '../../../journal/event.js';
import type { CacheFlags } from '../../../journal/facts/run-event.js';
import { startOf, type CallKey, type EventRef, type OpPath, type RunId, type Seq, type Workflow } from '../../../journal/ids.js';
import { emptyLedger, followCall, type CallLedger } from '../../fold/calls/call-ledger.js';
import { endedCall, isEndOfCall, type CallOutcome, type EndOfCall } from '../../fold/calls/ended-call.js';
import { callPhases, type CallPhases } from '../../workflows/call-phases.js';
import type { DefinitionChange } from '../../memo/definitions.js';
import { cameLater, holdsResult, type ResultEvent } from '../../memo/stored-result.js';
import { usable, type UsableEntry } from '../../memo/memo.js';
import { unjudgedCalls, type ForkSource } from '../../memo/overlay.js';
import type { ResumeMode, Scope } from '../../memo/policy.js';
import { previewOf } from '../../fold/preview.js';
import type { Place, Projection } from '../../fold/projection.js';
import { index } from '../../memo/snapshot.js';
import { endVisit, failInStage, leaveStage, noStageRetries, retryStage, type StageRetries } from '../../fold/calls/stage-retries.js';
import { isLater, upstreamMiss, type Fate, type Miss } from './miss.js';
import { editSince, whyExecuted, type KnownBefore } from './why-executed.js';

export interface Hit {
  readonly from: EventRef & { readonly workflow?: Workflow };
  /** The worker that executed the call for this run, and its machine: nothing was recorded before. */
  readonly worker?: string;
  readonly workerHost?: string;
  /** It was made with another definition, or other guards or hooks held. */
  readonly edited: boolean;
  /** The differences, as far as the parts are recorded. */
  readonly changes: readonly DefinitionChange[];
}

export interface ExplainedCall {
  readonly op: OpPath;
  readonly seq: Seq;
  readonly fn: string;
  readonly key: CallKey;
  /** First argument as text, clipped. */
  readonly preview: string | undefined;
  readonly attempt: number | undefined;
  /** The phase of a call of a workflow script. */
  readonly phase?: string;
  /** Names the place of the call: `llm/run/job.mld:12:9`. */
  readonly site?: string;
  outcome: CallOutcome | 'unfinished';
  /** Exactly one of the two is there. */
  readonly hit?: Hit;
  readonly miss?: Miss;
}

export interface Explanation extends KnownBefore {
  /** In the order in which they started. */
  readonly calls: ExplainedCall[];
  /** The place of the arguments of every call. */
  readonly argumentsOf: Map<CallKey, Place>;
  /** Calls of earlier runs, by function and path. */
  readonly earlier: Map<string, Map<OpPath, CallKey>>;
  readonly fates: Map<CallKey, Fate>;
  readonly replaced: Map<CallKey, Fate>;
  readonly refusals: Map<CallKey, Extract<Miss, { why: 'refused' | 'rejected' }>>;
  readonly reusedFrom: Map<CallKey, Hit['from']>;
  current: RunId | undefined;
  startedMs: number;
  ended: boolean;
  flags: CacheFlags;
  header: ResumeMode | undefined;
  isPipeline: boolean;
  forks: number;
  scope: Scope | undefined;
  readonly phases: CallPhases;
  readonly pending: Map<OpPath, Pending>;
  readonly stages: StageRetries<ExplainedCall>;
  /** Counts the calls that are explained. */
  readonly ledger: CallLedger;
}

interface Pending {
  readonly key: CallKey;
  readonly seq: Seq;
  /** Its start, or the result that its guards judge: a result of it that was redacted is no earlier one. */
  readonly since: EventRef;
  readonly call: ExplainedCall | undefined;
}

/** Explains the calls of `target`, folded over all runs up to it. `forkSources`: those of that run, in their order. */
export function explanation(target: RunId, forkSources: readonly ForkSource[]): Projection<Explanation> {
  const startMs = startOf(target);
  return {
    initial: () => ({
      index: index.initial(),
      calls: [],
      argumentsOf: new Map(),
      earlier: new Map(),
      fates: new Map(),
      replaced: new Map(),
      refusals: new Map(),
      reusedFrom: new Map(),
      current: undefined,
      startedMs: 0,
      ended: false,
      flags: {},
      header: undefined,
      isPipeline: false,
      forks: 0,
      scope: undefined,
      phases: callPhases.initial(),
      pending: new Map(),
      stages: noStageRetries(),
      ledger: emptyLedger(),
    }),
    apply(state, read, place) {
      const event = asItWas(read, startMs);
      const { run } = place.ref;
      if (state.current !== run) enterRun(state, run);
      callPhases.apply(state.phases, event, place);
      if (run === target) followCall(state.ledger, event);
      if (event.type === 'call.started') started(state, event, place, run === target ? forkSources : undefined);
      else if (event.type === 'call.withdrawn') withdrawn(state, event);
      else if (event.type === 'call.reused' && run === target) reused(state, event, forkSources);
      else {
        if (event.type === 'call.failed' && event.class === 'upstream' && run === target) notExecuted(state, event, run);
        follow(state, event, run);
      }
      index.apply(state.index, event, place);
      if (event.type === 'memo.invalidated') noteInvalidation(state, event, run);
      return state;
    },
  };
}

/** EXPLAIN-2. That there was a result is all that counts here, not what it was. */
function asItWas(event: JournalEvent, startMs: number): JournalEvent {
  if (!holdsResult(event) || event.redacted === undefined || !('redacted' in event.result)) return event;
  return Date.parse(event.redacted.at) > startMs ? { ...event, result: { inline: null } } : event;
}

function enterRun(state: Explanation, run: RunId): void {
  // Whatever had not ended by the end of its run: a crash, or in a run that ended in order a line that can't be read.
  for (const pending of state.pending.values()) {
    if (state.current !== undefined)
      lose(state, pending, { why: state.ended ? 'damaged' : 'interrupted', run: state.current, seq: pending.seq });
  }
  state.pending.clear();
  state.replaced.clear();
  state.phases.clear();
  state.current = run;
  state.ended = false;
  state.flags = {};
  state.header = undefined;
  state.isPipeline = false;
  state.forks = 0;
  state.scope = undefined;
}

function started(state: Explanation, event: EventOf<'call.started'>, place: Place, forkSources: readonly ForkSource[] | undefined): void {
  const { key, op, seq, fn, attempt } = event;
  if (event.try !== undefined && state.pending.get(op)?.key === key) return; // a further attempt of the same call
  let call: ExplainedCall | undefined;
  if (forkSources !== undefined) {
    const preview = event.preview ?? previewOf(event.args);
    const miss = whyExecuted(state, event, forkSources);
    call = { op, seq, fn, key, preview, attempt, ...placesOf(state, event), outcome: 'unfinished', miss };
    state.calls.push(call);
  } else noteEarlier(state, fn, op, key);
  state.argumentsOf.set(key, place);
  state.pending.set(op, { key, seq, since: event.received ?? { run: place.ref.run, seq }, call });
}

/** Another run had the call: what followed says how this one got its result. */
function withdrawn(state: Explanation, { op }: EventOf<'call.withdrawn'>): void {
  const call = state.pending.get(op)?.call;
  state.pending.delete(op);
  if (call !== undefined) state.calls.splice(state.calls.lastIndexOf(call), 1);
}

/** A call that was not executed has no `call.started`, so that the event that ended it is its first. */
function notExecuted(state: Explanation, event: EventOf<'call.failed'>, run: RunId): void {
  const { op, seq, key, fn = '' } = event;
  const { preview } = state.index.memo.entries.get(key) ?? {};
  state.calls.push({ op, seq, fn, key, preview, attempt: undefined, outcome: 'not-executed', miss: upstreamMiss(event, run) });
}

function noteEarlier({ earlier }: Explanation, fn: string, op: OpPath, key: CallKey): void {
  let paths = earlier.get(fn);
  if (paths === undefined) earlier.set(fn, (paths = new Map()));
  paths.set(op, key);
}

function reused(state: Explanation, event: EventOf<'call.reused'>, forkSources: readonly ForkSource[]): void {
  const { key, op, seq, fn, from, worker, workerHost } = event;
  const sources = from.workflow === undefined ? [state.index] : forkSources.filter(({ workflow }) => workflow === from.workflow);
  const known = sources.map(({ memo }) => memo.entries.get(key)).find((question) => isFrom(question?.result, from));
  const edit = editSince(known?.fingerprint, event, state.index, forkSources);
  const at = { ...(worker !== undefined && { worker }), ...(workerHost !== undefined && { workerHost }) };
  const hit: Hit = { from, ...at, edited: edit.definition || edit.interceptors, changes: edit.changes };
  const preview = event.preview ?? known?.preview;
  state.calls.push({ op, seq, fn, key, preview, attempt: known?.attempt, ...placesOf(state, event), outcome: 'reused', hit });
}

function placesOf(
  { phases }: Explanation,
  { op, site }: { readonly op: OpPath; readonly site?: string },
): Pick<ExplainedCall, 'phase' | 'site'> {
  const phase = phases.get(op);
  return { ...(phase !== undefined && { phase }), ...(site !== undefined && { site }) };
}

function isFrom(answer: UsableEntry['result'] | undefined, { run, seq }: EventRef): boolean {
  return answer !== undefined && answer.ref.run === run && answer.seq === seq;
}

function follow(state: Explanation, event: JournalEvent, run: RunId): void {
  switch (event.type) {
    case 'run.started':
      state.startedMs = Date.parse(event.ts);
      state.flags = event.flags;
      state.header = event.header;
      state.isPipeline = event.pipeline !== undefined;
      state.forks = event.forks?.length ?? 0;
      return;
    case 'run.finished':
      state.ended = true;
      return;
    case 'checkpoint.reached':
      state.scope = { name: event.name, resume: event.resume, ttlMs: event.ttlMs, complete: event.conditional };
      return;
    case 'call.reused':
      noteEarlier(state, event.fn, event.op, event.key);
      state.reusedFrom.set(event.key, event.from);
      return;
    case 'call.completed':
      finishCall(state, event);
      if (event.unusable !== undefined) state.fates.set(event.key, { why: 'unusable', message: event.unusable, run, seq: event.seq });
      else if ('redacted' in event.result) noteRedaction(state, event, event.result.redacted, run);
      else takeFate(state, event.key);
      return;
    case 'result.received':
      if ('redacted' in event.result) noteRedaction(state, event, event.result.redacted, run);
      return;
    case 'call.failed': {
      if (event.waited) interrupt(state, event, run);
      if (!isEndOfCall(event)) return;
      const denied = event.denied === true;
      const call = denied ? undefined : state.pending.get(event.op);
      finishCall(state, event);
      const failed = { why: 'failed', message: event.message, denied, run, seq: event.seq } as const;
      lose(state, call ?? { key: event.key }, event.class === 'upstream' ? upstreamMiss(event, run) : failed);
      return;
    }
    case 'retry.scheduled':
      return dropAttempts(state, event);
    case 'node.finished':
      return endVisit(state.stages, event);
    case 'edge.selected':
      leaveStage(state.stages, event.op, event.from);
      return;
    case 'result.rejected':
      return noteRejection(state, event, run);
    case 'result.restored': {
      const places: readonly Map<CallKey, Miss>[] = [state.fates, state.refusals];
      for (const place of places) if (place.get(event.key)?.why === 'rejected') place.delete(event.key);
      return;
    }
    case 'memo.reset':
      for (const [key, { result: answer }] of [...usable(state.index.memo), ...unjudgedCalls(state.index.memo)]) {
        if (!cameLater(answer, event.during)) state.fates.set(key, { why: 'reset', by: event.reason, run, seq: event.seq });
      }
      state.refusals.clear();
      state.reusedFrom.clear();
      return;
    default:
  }
}

/** The run ended while the call waited for one inside it. */
function interrupt(state: Explanation, { key, op, seq }: EventOf<'call.failed'>, run: RunId): void {
  lose(state, state.pending.get(op) ?? { key }, { why: 'interrupted', run, seq });
  state.pending.delete(op);
}

/** A call that ended without a result is executed again because of that, unless its guards would judge a result that was redacted since. */
function lose({ fates }: Explanation, { key, since }: Pick<Pending, 'key'> & Partial<Pending>, fate: Fate): void {
  const known = fates.get(key);
  if (known?.why !== 'redacted' || since === undefined || isLater(since, known)) fates.set(key, fate);
}

function noteRedaction({ fates }: Explanation, { key, seq }: ResultEvent, reason: string, run: RunId): void {
  fates.set(key, { why: 'redacted', reason, run, seq });
}

function takeFate({ fates, replaced }: Explanation, key: CallKey): void {
  const fate = fates.get(key);
  if (fate === undefined) return;
  replaced.set(key, fate);
  fates.delete(key);
}

function finishCall(state: Explanation, event: EndOfCall): void {
  const { key, call } = state.pending.get(event.op) ?? {};
  if (call !== undefined) call.outcome = endedCall(event).outcome;
  if (key !== undefined && call?.outcome === 'failed') failInStage(state.stages, event.op, key, call);
  state.pending.delete(event.op);
}

/** EXPLAIN-4 */
function dropAttempts({ calls, stages }: Explanation, event: EventOf<'retry.scheduled'>): void {
  for (const { failed } of retryStage(stages, event)) calls.splice(calls.lastIndexOf(failed), 1);
}

/** Called before the memo has the event: a rejection of a result that is not usable any more changes nothing. */
function noteRejection(state: Explanation, { key, from, reason, ts, seq }: EventOf<'result.rejected'>, run: RunId): void {
  const { memo } = state.index;
  const miss = { why: 'rejected', ...(reason !== undefined && { reason }), at: ts, run, seq } as const;
  if (from.workflow !== undefined) state.refusals.set(key, miss);
  else if ([memo.entries.get(key), memo.unjudged.get(key)].some((held) => isFrom(held?.result, from))) state.fates.set(key, miss);
}

function noteInvalidation(state: Explanation, { keys, selector, borrowed, seq }: EventOf<'memo.invalidated'>, run: RunId): void {
  for (const key of keys) {
    if (borrowed === true) state.refusals.set(key, { why: 'refused', selector, run, seq });
    else state.fates.set(key, { why: 'invalidated', selector, run, seq });
  }
}
