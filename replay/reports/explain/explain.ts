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
import {
  startOf,
  type CallKey,
  type EventRef,
  type Fingerprint,
  type OpPath,
  type RunId,
  type Seq,
  type Workflow,
} from '../../../journal/ids.js';
import { endedCall, isEndOfCall, type CallOutcome, type EndOfCall } from '../../fold/calls/ended-call.js';
import { callPhases, type CallPhases } from '../../workflows/call-phases.js';
import { editBetween, isRefused, type DefinitionChange, type Edit } from '../../memo/definitions.js';
import { cameLater } from '../../memo/stored-result.js';
import { isSimulated, usableEntry, usable, type UsableEntry, type Memo } from '../../memo/memo.js';
import { unjudgedEntry, type ForkSource } from '../../memo/overlay.js';
import { cachePolicy, type ResumeMode, type Scope } from '../../memo/policy.js';
import { previewOf } from '../../fold/preview.js';
import type { Place, Projection } from '../../fold/projection.js';
import { index, type Index } from '../../memo/snapshot.js';
import { endVisit, failInStage, leaveStage, noStageRetries, retryStage, type StageRetries } from '../../fold/calls/stage-retries.js';
import { isLater, upstreamMiss, whereItWent, whyPassedOver, type Miss } from './miss.js';

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

/** The latest event that left a call without a usable result. */
type Fate = Extract<
  Miss,
  { why: 'invalidated' | 'rejected' | 'reset' | 'failed' | 'upstream' | 'unusable' | 'interrupted' | 'damaged' | 'redacted' }
>;

export interface Explanation {
  /** The index as the next call sees it. */
  readonly index: Index;
  /** In the order in which they started. */
  readonly calls: ExplainedCall[];
  /** The place of the arguments of every call. */
  readonly argumentsOf: Map<CallKey, Place>;
  /** Calls of earlier runs, by function and path. */
  readonly earlier: Map<string, Map<OpPath, CallKey>>;
  // The events by which calls lost their results.
  readonly fates: Map<CallKey, Fate>;
  /** Those that calls of the current run have replaced by a result. */
  readonly replaced: Map<CallKey, Fate>;
  readonly refusals: Map<CallKey, Extract<Miss, { why: 'refused' | 'rejected' }>>;
  /** The event that holds the result that an earlier run reused. */
  readonly reusedFrom: Map<CallKey, Hit['from']>;
  // The run that is being folded.
  current: RunId | undefined;
  startedMs: number;
  ended: boolean;
  flags: CacheFlags;
  header: ResumeMode | undefined;
  isPipeline: boolean;
  forks: number;
  scope: Scope | undefined;
  readonly phases: CallPhases;
  readonly pending: Map<OpPath, { readonly key: CallKey; readonly seq: Seq; readonly call: ExplainedCall | undefined }>;
  readonly stages: StageRetries<ExplainedCall>;
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
    }),
    apply(state, read, place) {
      const event = asItWas(read, startMs);
      const { run } = place.ref;
      if (state.current !== run) enterRun(state, run);
      callPhases.apply(state.phases, event, place);
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
  if (event.type !== 'call.completed' || event.redacted === undefined || !('redacted' in event.result)) return event;
  return Date.parse(event.redacted.at) > startMs ? { ...event, result: { inline: null } } : event;
}

function enterRun(state: Explanation, run: RunId): void {
  // Whatever had not ended by the end of its run: a crash, or in a run that ended in order a line that can't be read.
  for (const { key, seq } of state.pending.values()) {
    if (state.current !== undefined) state.fates.set(key, { why: state.ended ? 'damaged' : 'interrupted', run: state.current, seq });
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
  state.pending.set(op, { key, seq, call });
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
  const { key, op, seq, fn, from, fingerprint, worker, workerHost } = event;
  const sources = from.workflow === undefined ? [state.index] : forkSources.filter(({ workflow }) => workflow === from.workflow);
  const known = sources.map(({ memo }) => memo.entries.get(key)).find((question) => isFrom(question?.result, from));
  const edit = editSince(known?.fingerprint, fingerprint, state.index, forkSources);
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

/** A fingerprint names its definition, whichever run recorded it. */
function editSince(
  before: Fingerprint | undefined,
  now: Fingerprint | undefined,
  { definitions }: Index,
  forkSources: readonly ForkSource[],
): Edit {
  return editBetween(
    before,
    now,
    (fingerprint) =>
      definitions.get(fingerprint) ??
      forkSources.find((forkSource) => forkSource.definitions.has(fingerprint))?.definitions.get(fingerprint),
  );
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
      else if ('redacted' in event.result)
        state.fates.set(event.key, { why: 'redacted', reason: event.result.redacted, run, seq: event.seq });
      else takeFate(state, event.key);
      return;
    case 'call.failed': {
      if (event.waited) interrupt(state, event, run);
      if (!isEndOfCall(event)) return;
      const denied = event.denied === true;
      finishCall(state, event);
      const failed = { why: 'failed', message: event.message, denied, run, seq: event.seq } as const;
      state.fates.set(event.key, event.class === 'upstream' ? upstreamMiss(event, run) : failed);
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
      for (const [key, { result: answer }] of usable(state.index.memo)) {
        if (!cameLater(answer, event.during)) state.fates.set(key, { why: 'reset', by: event.reason, run, seq: event.seq });
      }
      state.refusals.clear();
      state.reusedFrom.clear();
      return;
    default:
  }
}

/** The run ended while the call waited for one inside it. */
function interrupt({ fates, pending }: Explanation, { key, op, seq }: EventOf<'call.failed'>, run: RunId): void {
  fates.set(key, { why: 'interrupted', run, seq });
  pending.delete(op);
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
  const miss = { why: 'rejected', ...(reason !== undefined && { reason }), at: ts, run, seq } as const;
  if (from.workflow !== undefined) state.refusals.set(key, miss);
  else if (isFrom(state.index.memo.entries.get(key)?.result, from)) state.fates.set(key, miss);
}

function noteInvalidation(state: Explanation, { keys, selector, borrowed, seq }: EventOf<'memo.invalidated'>, run: RunId): void {
  for (const key of keys) {
    if (borrowed === true) state.refusals.set(key, { why: 'refused', selector, run, seq });
    else state.fates.set(key, { why: 'invalidated', selector, run, seq });
  }
}

/** `main/work#0/try#1/model#0/ask#0`, `main/agent~1f2e3d4c#0/ask#0`: calls that a function makes as the backend of a stage or an agent. */
const INSIDE = /\/(?:try#\d+\/model#0|agent~[^/]+#\d+)\/./;

/** Returns the first reason that holds, in the order in which a result is looked up. */
function whyExecuted(state: Explanation, event: EventOf<'call.started'>, forkSources: readonly ForkSource[]): Miss {
  const { key, received } = event;
  if (received) return { why: 'unjudged', run: received.run, seq: received.seq };
  const own = usableEntry(state.index.memo, key);
  const lent = forkSources.map(({ memo }: { memo: Memo }) => usableEntry(memo, key)).find((entry) => entry !== undefined);
  const refusal = state.refusals.get(key);
  const borrowed = refusal === undefined ? lent : undefined;
  if (own !== undefined || borrowed !== undefined)
    return whyNotServed(state, event, (own ?? borrowed) as UsableEntry, own !== undefined, forkSources);
  const waiting = unjudgedEntry(state.index.memo, key)?.result;
  const passedOver = waiting && whyPassedOver(event, { run: waiting.ref.run, seq: waiting.seq });
  if (passedOver !== undefined) return passedOver;
  const fate = state.fates.get(key);
  // The later of the two is the reason.
  if (refusal !== undefined && lent !== undefined && !(fate !== undefined && isLater(fate, refusal))) return refusal;
  return fate ?? whereItWent(state.reusedFrom.get(key), state.current);
}

function whyNotServed(
  state: Explanation,
  event: EventOf<'call.started'>,
  entry: UsableEntry,
  isOwn: boolean,
  forkSources: readonly ForkSource[],
): Miss {
  const { flags, header, scope } = state;
  const { result: answer, fingerprint } = entry;
  const where = { run: answer.ref.run, seq: answer.seq };
  const { memo } = state.index;
  if ([memo, ...forkSources.map((source) => source.memo)].some((each) => isSimulated(each, entry)) && !isSimulated(memo, event))
    return { why: 'simulated', ...where };
  const isInside = INSIDE.test(event.op);
  const isEarlier = answer.ref.run !== state.current;
  if (isInside && !isEarlier) return state.replaced.get(event.key) ?? { why: 'inside', ...where }; // EXPLAIN-5
  const passedOver = whyPassedOver(event, where);
  if (passedOver !== undefined) return passedOver;
  const policy = cachePolicy({ flags: { ...flags, forks: Array.from({ length: state.forks }) }, header, scope });
  const isOff = state.isPipeline ? flags.checkpoint !== true && state.forks === 0 : policy.reuses === 'no';
  if (isOff) return { why: 'off', ...where };
  if (isEarlier && isOwn && policy.reuses === 'this-run') return { why: 'manual', ...where };
  if (isEarlier && policy.ttlMs !== undefined) {
    const ageMs = Math.max(0, Date.parse(event.ts) - answer.endedMs);
    if (ageMs >= policy.ttlMs) return { why: 'expired', ttlMs: policy.ttlMs, ageMs, ...where };
  }
  if (isEarlier && policy.requireComplete !== undefined && state.index.complete.get(policy.requireComplete) !== true) {
    return { why: 'incomplete', checkpoint: policy.requireComplete };
  }
  const { changed = 'serve' } = flags;
  if (changed !== 'serve') {
    const edit = editSince(fingerprint, event.fingerprint, state.index, forkSources);
    if (isRefused(edit, changed)) return { why: 'edited', changed, changes: edit.changes, ...where };
  }
  if (isInside) return { why: 'inside', ...where };
  // Runs that go on beside each other look for results when they begin.
  return { why: isEarlier && answer.endedMs >= state.startedMs ? 'later' : 'damaged', ...where };
}
