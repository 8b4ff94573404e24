/**
 * Folds a run to spans: one for every operation, with its calls and what else happened to it. Used by reports and
 * exports. Arguments and results stay in the journal; a span keeps their places.
 */
import type { EventOf, JournalEvent, Usage } from '../../../journal/event.js';
import type { RunStatus } from '../../../journal/facts/run-event.js';
import type { CallKey, EventRef, OpPath, RunRef, Seq, Workflow } from '../../../journal/ids.js';
import type { Position } from '../../../journal/store.js';
import { addUsage } from '../../fold/add-usage.js';
import { noCalls, type CallCounts } from '../../fold/calls/call-counts.js';
import { COUNTED, emptyLedger, followCall, type CallLedger } from '../../fold/calls/call-ledger.js';
import { endedCall, isEndOfCall, type CallOutcome, type EndOfCall } from '../../fold/calls/ended-call.js';
import type { CallCause } from '../../fold/calls/failure-class.js';
import { callBefore } from '../../fold/calls/stage-retries.js';
import { ancestorsOf } from '../../fold/op-path.js';
import { previewOf } from '../../fold/preview.js';
import type { Projection } from '../../fold/projection.js';
import {
  NO_REPLY,
  offeredMs,
  receiveResult,
  replyOf,
  withdrawAttempt,
  workerIn,
  type CallAtWorker,
  type TimelineAttempt,
} from './timeline-attempt.js';

export type SpanOutcome = 'ok' | 'reused' | 'denied' | 'failed';

/** One call that an operation executed or reused. */
export interface TimelineCall {
  /** The number of its first event. */
  readonly seq: Seq;
  readonly key: CallKey;
  readonly fn: string;
  readonly attempt: number | undefined;
  readonly preview: string | undefined;
  readonly startedMs: number;
  readonly from: (EventRef & { readonly workflow?: Workflow }) | undefined;
  /** Present where a worker executed the call: `from` is then the event of its run, and the time of the call that from its offer on. */
  readonly worker: CallAtWorker | undefined;
  /** The result of an earlier execution that the guards judge: the call has no attempt. */
  readonly received: EventRef | undefined;
  /** The place of `call.started`, which has the arguments; undefined for a reused result. */
  readonly startedAt: Position | undefined;
  /** The place of `call.completed`, which has the result, and its number. */
  endedAt: Position | undefined;
  endedSeq: Seq | undefined;
  /** Empty for a reused result, and for one that was judged later. */
  readonly attempts: TimelineAttempt[];
  /** The failed call that an attempt before of the stage had made, and of which this one is a further attempt: calls.md 17.3. */
  readonly repeats: TimelineCall | undefined;
  outcome: CallOutcome | 'unfinished';
  endedMs: number | undefined;
  /** As the last attempt measured it. */
  durationMs: number | undefined;
  /** Added up over all attempts. */
  usage: Usage | undefined;
  message: string | undefined;
  /** The class of a failed call. */
  cause: CallCause | undefined;
  /** The code of the error of a failed call; undefined where the journal does not have one. */
  errorCode: string | undefined;
}

/** Something that happened to an operation at one moment: a command, a guard's decision, a hook. */
export interface Moment {
  readonly seq: Seq;
  readonly atMs: number;
  readonly event: EventOf<'effect.performed' | 'hook.fired' | 'guard.decided' | 'retry.scheduled'>;
}

export interface Span {
  /** The number of its first event: unique in the run. */
  readonly seq: Seq;
  readonly op: OpPath;
  /** The innermost span around it; undefined for what lies directly in the run. */
  readonly parent: Span | undefined;
  readonly kind: string;
  /** Name of the function or graph node. */
  readonly name: string | undefined;
  /** The item of an iteration. */
  readonly item: string | undefined;
  readonly site: string | undefined;
  /** The phase of a workflow script. */
  readonly group: string | undefined;
  /** The model stage that the span is, or is inside of. */
  model: string | undefined;
  provider: string | undefined;
  /** The checkpoint that was reached last when it began. */
  readonly phase: string | undefined;
  readonly startedMs: number;
  readonly calls: TimelineCall[];
  readonly moments: Moment[];
  /** Undefined: it never ended. */
  endedMs: number | undefined;
  endedSeq: Seq | undefined;
  outcome: SpanOutcome | undefined;
  message: string | undefined;
  /** The code of the last error inside it; undefined where the journal does not have one. */
  errorCode: string | undefined;
}

export interface Timeline {
  ref: RunRef | undefined;
  name: string | undefined;
  versions: EventOf<'run.started'>['versions'] | undefined;
  /** The trace context that the run was started in. */
  traceparent: string | undefined;
  /** Undefined: the run has no last event. */
  status: RunStatus | undefined;
  error: EventOf<'run.finished'>['error'];
  startedMs: number | undefined;
  /** Time of the last event so far. */
  lastMs: number | undefined;
  lastSeq: Seq | undefined;
  readonly ledger: CallLedger;
  /** The calls by the checkpoint that was reached last when they began, in the order of the first call. */
  readonly countsOfPhases: Map<string, CallCounts>;
  /** Counts the reused calls of each counts that workers executed for the run. */
  readonly atWorkers: Map<CallCounts, number>;
  phase: string | undefined;
  readonly phases: { readonly name: string; readonly atMs: number }[];
  /** In the order in which they began. */
  readonly spans: Span[];
  readonly byPath: Map<OpPath, Span>;
}

/** Folds the events of one run. */
export const timeline: Projection<Timeline> = {
  initial: () => ({
    ref: undefined,
    name: undefined,
    versions: undefined,
    traceparent: undefined,
    status: undefined,
    error: undefined,
    startedMs: undefined,
    lastMs: undefined,
    lastSeq: undefined,
    ledger: emptyLedger(),
    countsOfPhases: new Map(),
    atWorkers: new Map(),
    phase: undefined,
    phases: [],
    spans: [],
    byPath: new Map(),
  }),
  apply(state, event, { ref, position }) {
    const atMs = Date.parse(event.ts);
    state.ref = ref;
    state.startedMs ??= atMs;
    state.lastMs = atMs;
    state.lastSeq = event.seq;
    if (COUNTED.has(event.type)) followCall(state.ledger, event, phaseOf(state, event));
    switch (event.type) {
      case 'run.started':
        state.name = event.name;
        state.versions = event.versions;
        state.traceparent = event.traceparent;
        break;
      case 'run.finished':
        state.status = event.status;
        state.error = event.error;
        break;
      case 'checkpoint.reached':
        state.phase = event.name;
        state.phases.push({ name: event.name, atMs });
        break;
      case 'op.started':
        open(state, event, atMs, { kind: event.kind, name: event.name, item: event.item, site: event.site, group: event.group });
        break;
      case 'op.finished':
        close(state, event, atMs, event.outcome, event.message);
        break;
      case 'node.started': {
        // After a crash the same visit begins again.
        const span = state.byPath.get(event.op) ?? open(state, event, atMs, { kind: 'node', name: event.node });
        [span.model, span.provider] = [event.model, event.provider];
        break;
      }
      case 'node.finished':
        close(state, event, atMs, event.status === 'fail' ? 'failed' : 'ok', event.outcome.failure_reason || undefined);
        break;
      case 'call.started':
        startAttempt(state, event, { atMs, position });
        break;
      case 'call.reused': {
        const span = spanOf(state, event, atMs, { name: event.fn, site: event.site });
        const worker = workerIn(event, event.workerUsd);
        if (worker) countAtWorker(state, event);
        const begun = span.calls.findLast(({ outcome }) => outcome === 'unfinished');
        if (begun?.key === event.key && begun.attempts.every(({ outcome }) => outcome === 'failed')) {
          Object.assign(begun, { outcome: 'reused', from: event.from, endedMs: atMs }); // its attempts failed, and the next was withdrawn
          break;
        }
        span.calls.push({
          ...callBegun(event, event.fn, worker ? offeredMs(span) : atMs),
          outcome: 'reused',
          preview: event.preview,
          from: event.from,
          worker,
          endedMs: atMs,
        });
        break;
      }
      case 'call.withdrawn':
        withdrawAttempt(spanOf(state, event, atMs, {}));
        break;
      case 'result.received':
        receiveResult(nearest(state, event.op)?.calls.at(-1), event);
        break;
      case 'call.completed':
      case 'call.failed': {
        const span = spanOf(state, event, atMs, {});
        const call = span.calls.findLast(({ outcome }) => outcome === 'unfinished') ?? nameless(span, event, atMs);
        endAttempt(call, event, atMs);
        if (!isEndOfCall(event)) break;
        span.errorCode = call.errorCode;
        if (event.type === 'call.completed') [call.endedAt, call.endedSeq] = [position, event.seq];
        break;
      }
      case 'effect.performed':
      case 'hook.fired':
      case 'guard.decided':
      case 'retry.scheduled':
        nearest(state, event.op)?.moments.push({ seq: event.seq, atMs, event });
        break;
      default:
        break;
    }
    return state;
  },
};

/** When the span ended, or how far the run got while it was open. */
export function endOf({ endedMs, startedMs }: Span | TimelineCall, { lastMs }: Timeline): number {
  return endedMs ?? lastMs ?? startedMs;
}

/** Yields all calls of a run in the order in which they started, each with its operation. */
export function* callsOf({ spans }: Timeline): Generator<{ readonly span: Span; readonly call: TimelineCall }> {
  for (const span of spans) for (const call of span.calls) yield { span, call };
}

type Described = Partial<Pick<Span, 'name' | 'item' | 'site' | 'group'>> & { readonly kind: string };

function open(state: Timeline, { op, seq }: { readonly op: OpPath; readonly seq: Seq }, startedMs: number, described: Described): Span {
  const parent = above(state, op);
  const span: Span = {
    name: undefined,
    item: undefined,
    site: undefined,
    ...described,
    group: described.group ?? parent?.group,
    model: parent?.model,
    provider: parent?.provider,
    seq,
    op,
    parent,
    phase: state.phase,
    startedMs,
    calls: [],
    moments: [],
    endedMs: undefined,
    endedSeq: undefined,
    outcome: undefined,
    message: undefined,
    errorCode: undefined,
  };
  state.spans.push(span);
  state.byPath.set(op, span);
  return span;
}

function close(
  state: Timeline,
  { op, seq }: { readonly op: OpPath; readonly seq: Seq },
  atMs: number,
  outcome: SpanOutcome,
  message: string | undefined,
) {
  const span = state.byPath.get(op);
  if (span === undefined) return;
  span.endedMs = atMs;
  span.endedSeq = seq;
  // Its operation ends in order also where a node failed.
  if (outcome === 'ok' && span.outcome === 'failed' && span.kind === 'node') return;
  span.outcome = outcome;
  span.message = message;
  if (outcome === 'failed' && span.kind === 'node') span.errorCode ??= 'STAGE_FAILED';
  if (outcome !== 'ok' && span.parent !== undefined) span.parent.errorCode = span.errorCode;
}

/** The operation that makes the call; made up where the line that began it is damaged. */
function spanOf(
  state: Timeline,
  event: EndOfCall | EventOf<'call.started' | 'call.withdrawn'>,
  atMs: number,
  described: Partial<Described>,
): Span {
  return state.byPath.get(event.op) ?? open(state, event, atMs, { kind: 'exe', ...described });
}

function countAtWorker(state: Timeline, event: EventOf<'call.reused'>): void {
  const { ledger, atWorkers } = state;
  for (const counts of [ledger.total, ledger.functions.get(event.fn), ...phaseOf(state, event)])
    if (counts !== undefined) atWorkers.set(counts, (atWorkers.get(counts) ?? 0) + 1);
}

/** A call counts for the phase in which it began. */
function phaseOf({ countsOfPhases, phase = 'before the first checkpoint' }: Timeline, { type }: JournalEvent): readonly CallCounts[] {
  let counts = countsOfPhases.get(phase);
  if (counts === undefined && (type === 'call.started' || type === 'call.reused' || type === 'call.failed')) {
    countsOfPhases.set(phase, (counts = noCalls()));
  }
  return counts === undefined ? [] : [counts];
}

function startAttempt(
  state: Timeline,
  event: EventOf<'call.started'>,
  { atMs, position }: { readonly atMs: number; readonly position: Position },
): void {
  const span = spanOf(state, event, atMs, { name: event.fn, site: event.site });
  const { calls } = span;
  const { op, seq, key, fn, attempt, args, preview = previewOf(args), lane, waitedMs, try: tried = 1, received } = event;
  let call = calls.findLast(({ outcome }) => outcome === 'unfinished');
  if (tried === 1 || call?.key !== key) {
    const worker = workerIn(event, undefined);
    const repeats = calls.length === 0 ? failedBefore(state, op) : undefined;
    call = { ...callBegun(event, fn, worker ? offeredMs(span) : atMs), attempt, preview, worker, repeats, received, startedAt: position };
    calls.push(call);
  }
  if (received) return;
  const begun = { seq, try: tried, lane, waitedMs, startedMs: atMs, endedMs: undefined };
  call.attempts.push({ ...begun, outcome: 'unfinished', ...NO_ATTEMPT_ENDED, ...NO_REPLY });
}

function failedBefore({ ledger, byPath }: Timeline, op: OpPath): TimelineCall | undefined {
  const before = callBefore(ledger.stages, op);
  const call = before && byPath.get(before)?.calls.at(-1);
  return call?.outcome === 'failed' ? call : undefined;
}

function endAttempt(call: TimelineCall, event: EventOf<'call.completed' | 'call.failed'>, atMs: number): void {
  const { errorCode, outcome, durationMs, usage, message, cause } = endedCall(event);
  const attempt = call.attempts.findLast((each) => each.outcome === 'unfinished');
  if (attempt ? attempt.usage === undefined : call.attempts.length === 0) call.usage = addUsage(call.usage, usage);
  if (attempt) Object.assign(attempt, { outcome, durationMs, usage, message, cause, endedMs: atMs, ...replyOf(event) });
  if (isEndOfCall(event)) Object.assign(call, { outcome, durationMs, message, cause, errorCode, endedMs: atMs });
}

const NO_ATTEMPT_ENDED = { durationMs: undefined, usage: undefined, message: undefined, cause: undefined };
const NOTHING_ENDED = { ...NO_ATTEMPT_ENDED, errorCode: undefined };

function callBegun({ seq, key }: { readonly seq: Seq; readonly key: CallKey }, fn: string, startedMs: number): TimelineCall {
  return {
    seq,
    key,
    fn,
    startedMs,
    attempt: undefined,
    preview: undefined,
    from: undefined,
    worker: undefined,
    received: undefined,
    startedAt: undefined,
    endedAt: undefined,
    endedSeq: undefined,
    attempts: [],
    repeats: undefined,
    outcome: 'unfinished',
    endedMs: undefined,
    ...NOTHING_ENDED,
  };
}

/** The line that began it is damaged. */
function nameless({ calls }: Span, event: EndOfCall | EventOf<'call.failed'>, atMs: number): TimelineCall {
  const call = callBegun(event, '', atMs);
  calls.push(call);
  return call;
}

function nearest(state: Timeline, op: OpPath): Span | undefined {
  return state.byPath.get(op) ?? above(state, op);
}

function above(state: Timeline, op: OpPath): Span | undefined {
  for (const path of ancestorsOf(op)) {
    const span = state.byPath.get(path);
    if (span !== undefined) return span;
  }
  return undefined;
}
