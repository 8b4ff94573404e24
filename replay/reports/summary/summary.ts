/** Folds a run to its status, counts, durations, cost and what is in flight. Current at any event while it is followed. */
import type { EventOf, JournalEvent } from '../../../journal/event.js';
import type { StopClass } from '../../../journal/facts/call-event.js';
import type { RunStatus } from '../../../journal/facts/run-event.js';
import type { OpPath, RunRef } from '../../../journal/ids.js';
import type { RunLiveness } from '../../../journal/store.js';
import { noCalls, type CallCounts, type CallFigures } from '../../fold/calls/call-counts.js';
import { unpricedInFlight, emptyLedger, followCall, usualModel, type CallLedger } from '../../fold/calls/call-ledger.js';
import { isEndOfCall } from '../../fold/calls/ended-call.js';
import { iterationOf } from '../../fold/op-path.js';
import { previewOf } from '../../fold/preview.js';
import type { Projection } from '../../fold/projection.js';
import { openQuestions, type OpenQuestion } from '../../pipeline/progress.js';
import { callPhases } from '../../workflows/call-phases.js';
import { reportedStatus, type ReportedStatus, type UnresolvedCalls } from '../../fold/reported-status.js';
import { runDurationMs, runningForMs, sinceMs } from '../../fold/run-duration.js';

export interface InFlight {
  readonly op: OpPath;
  readonly fn: string;
  readonly preview: string | undefined;
  /** The phase of a call of a workflow script. */
  readonly phase?: string;
  readonly startedMs: number;
}

/** A loop that has not ended. */
export interface LoopProgress {
  readonly op: OpPath;
  readonly total: number;
  done: number;
}

/** A lane in which no attempt starts for now. */
export interface LaneHold {
  /** Empty for a stop of all lanes. */
  readonly lane: string;
  /** Present for a lane that is stopped, and not only held. */
  readonly stopped?: StopClass;
  /** Milliseconds since 1970; absent where it is not known. A hold that is over is still here until its lane changes. */
  readonly untilMs?: number;
}

export interface RunSummary extends Readonly<CallCounts> {
  /** The counts by function and model, and what they need to go on. */
  readonly ledger: CallLedger;
  readonly ref: RunRef | undefined;
  /** The script's name in messages. */
  readonly name: string | undefined;
  readonly argv: readonly string[];
  readonly flags: EventOf<'run.started'>['flags'];
  /** Undefined: no `run.finished`; it is running or has crashed. */
  readonly status: RunStatus | undefined;
  readonly error: EventOf<'run.finished'>['error'];
  readonly pause: EventOf<'run.finished'>['pause'];
  readonly startedMs: number | undefined;
  /** Time of the last event. */
  readonly lastMs: number | undefined;
  /** Names in the order in which they were reached. */
  readonly checkpoints: readonly string[];
  readonly inFlight: ReadonlyMap<OpPath, InFlight>;
  readonly phases: ReadonlyMap<OpPath, string>;
  readonly loops: ReadonlyMap<OpPath, LoopProgress>;
  /** By the name of the lane. */
  readonly holds: ReadonlyMap<string, LaneHold>;
  /** Questions of a pipeline that people have not answered, by id, in the order in which they were asked. */
  readonly questions: ReadonlyMap<string, EventOf<'question.asked'>>;
}

/** The same, as the fold may write it. */
type Draft = {
  -readonly [K in keyof RunSummary]: RunSummary[K] extends ReadonlyMap<infer Key, infer Value>
    ? Map<Key, Value>
    : RunSummary[K] extends readonly string[]
      ? string[]
      : RunSummary[K];
} & {
  /** The text that `lastMs` was read from. */
  lastTs: string;
};

const EMPTY = { lastTs: '', status: undefined, error: undefined, pause: undefined, startedMs: undefined, lastMs: undefined } as const;

/** Folds the events of one run. */
export const summary: Projection<RunSummary> = {
  initial: () => ({
    ...EMPTY,
    ref: undefined,
    name: undefined,
    argv: [],
    flags: {},
    ...noCalls(),
    ledger: emptyLedger(),
    checkpoints: [],
    inFlight: new Map(),
    phases: callPhases.initial(),
    loops: new Map(),
    holds: new Map(),
    questions: new Map(),
  }),
  apply(state, event, place) {
    // Made by `initial` above, where every list and map is a fresh one.
    const draft = state as Draft;
    draft.ref = place.ref;
    // A busy run has many events in a millisecond, and reading their time costs more than counting them.
    const atMs = draft.lastMs !== undefined && event.ts === draft.lastTs ? draft.lastMs : readTime(draft, event.ts);
    switch (event.type) {
      case 'run.started':
        draft.name = event.name;
        draft.argv = [...event.argv];
        draft.flags = event.flags;
        draft.startedMs = atMs;
        break;
      case 'run.finished':
        draft.status = event.status;
        draft.error = event.error;
        draft.pause = event.pause;
        count(draft, event);
        break;
      case 'op.started':
        if (event.group !== undefined) callPhases.apply(draft.phases, event, place);
        if (event.total !== undefined) draft.loops.set(event.op, { op: event.op, total: event.total, done: 0 });
        break;
      case 'op.finished':
        if (draft.phases.size > 0) callPhases.apply(draft.phases, event, place);
        if (draft.loops.size > 0) endOperation(draft, event.op);
        break;
      case 'call.started': {
        const { op, fn, preview = previewOf(event.args) } = event;
        const { startedMs = atMs } = draft.inFlight.get(op) ?? {}; // of its first attempt
        const phase = draft.phases.get(op);
        draft.inFlight.set(op, phase === undefined ? { op, fn, preview, startedMs } : { op, fn, preview, phase, startedMs });
        count(draft, event);
        break;
      }
      case 'call.withdrawn':
        draft.inFlight.delete(event.op);
        count(draft, event);
        break;
      case 'call.completed':
      case 'call.failed':
      case 'call.reused':
        if (isEndOfCall(event)) draft.inFlight.delete(event.op);
        count(draft, event);
        break;
      case 'result.received':
      case 'retry.scheduled':
      case 'node.finished':
      case 'edge.selected':
        count(draft, event);
        break;
      case 'question.asked':
        draft.questions.set(event.id, event);
        break;
      case 'question.answered':
        draft.questions.delete(event.id);
        break;
      case 'lane.changed': {
        const { lane, heldUntil } = event;
        if (draft.holds.get(lane)?.stopped !== undefined) break; // a result of before does not open it again
        if (heldUntil === undefined) draft.holds.delete(lane);
        else draft.holds.set(lane, { lane, untilMs: Date.parse(heldUntil) });
        break;
      }
      case 'dispatch.stopped': {
        const { lane = '', class: stopped, resetsAt } = event;
        draft.holds.set(lane, { lane, stopped, ...(resetsAt !== undefined && { untilMs: Date.parse(resetsAt) }) });
        break;
      }
      case 'dispatch.resumed':
        draft.holds.delete(event.lane);
        break;
      case 'checkpoint.reached':
        draft.checkpoints.push(event.name);
        break;
      default:
        break;
    }
    return draft;
  },
};

/** A summary as plain data, for `--json` and lists. Times are milliseconds since 1970, durations milliseconds. */
export interface RunReport extends CallFigures, UnresolvedCalls {
  readonly workflow: string;
  readonly run: string;
  readonly name: string | undefined;
  readonly status: ReportedStatus;
  readonly error?: RunSummary['error'];
  /** Present for a paused run. */
  readonly pause?: RunSummary['pause'];
  readonly startedMs: number | undefined;
  readonly endedMs: number | undefined;
  readonly durationMs: number | undefined;
  readonly failedByClass: CallCounts['failedByClass'];
  readonly callsMs: number;
  /** The model that most attempts used. */
  readonly model: string | null;
  readonly checkpoints: readonly string[];
  /** Begun and not ended: what a running run waits for, what a crashed one lost. */
  readonly inFlight: readonly {
    readonly op: string;
    readonly fn: string;
    readonly preview: string | undefined;
    readonly phase?: string;
    readonly durationMs: number;
  }[];
  /** The command line, which says where questions are answered. */
  readonly argv: readonly string[];
  readonly loops: readonly { readonly op: string; readonly done: number; readonly total: number }[];
  /** Empty for a run that is not running: its questions reach no one any more. */
  readonly questions: readonly OpenQuestion[];
}

/** `liveness` distinguishes a crash from a run in flight; `nowMs` is the present for a run in flight. */
export function reportRun(state: RunSummary, ref: RunRef, liveness: RunLiveness, nowMs: number): RunReport {
  const status = reportedStatus(state.status, liveness);
  const endedMs = status === 'running' ? undefined : state.lastMs;
  const untilMs = endedMs ?? nowMs;
  const tookMs =
    endedMs === undefined ? runningForMs(ref.run, nowMs) : runDurationMs(ref.run, { firstMs: state.startedMs, lastMs: endedMs });
  return {
    workflow: ref.workflow,
    run: ref.run,
    name: state.name,
    status,
    ...(state.error !== undefined && { error: state.error }),
    ...(state.pause !== undefined && { pause: state.pause }),
    startedMs: state.startedMs,
    endedMs,
    durationMs: state.startedMs === undefined ? undefined : tookMs,
    executed: state.executed,
    reused: state.reused,
    failed: state.failed,
    accepted: state.accepted,
    denied: state.denied,
    notExecuted: state.notExecuted,
    unresolved: state.unresolved,
    unresolvedBefore: state.ledger.unresolvedBefore,
    attempts: state.attempts,
    retries: state.retries,
    failedByClass: { ...state.failedByClass },
    callsMs: state.callsMs,
    model: usualModel(state.ledger),
    inputTokens: state.inputTokens,
    outputTokens: state.outputTokens,
    costUsd: state.costUsd,
    // An attempt that is in flight when its run ends has a cost that nobody will know.
    unpriced: state.unpriced + (status === 'running' ? 0 : unpricedInFlight(state.ledger)),
    savedUsd: state.savedUsd,
    checkpoints: [...state.checkpoints],
    inFlight: [...state.inFlight.values()].map(({ startedMs, ...call }) => ({ ...call, durationMs: sinceMs(startedMs, untilMs) })),
    argv: [...state.argv],
    loops: [...state.loops.values()].map(({ op, done, total }) => ({ op, done, total })),
    questions: status === 'running' ? openQuestions(state.questions.values(), nowMs) : [],
  };
}

function readTime(draft: Draft, ts: string): number {
  draft.lastTs = ts;
  return (draft.lastMs = Date.parse(ts));
}

function count(draft: Draft, event: JournalEvent): void {
  followCall(draft.ledger, event);
  copyCounts(draft, draft.ledger.total);
}

/** Does what `Object.assign` does, for a tenth of its price: this is done twice for each call. */
function copyCounts(draft: Draft, total: CallCounts): void {
  draft.executed = total.executed;
  draft.reused = total.reused;
  draft.failed = total.failed;
  draft.accepted = total.accepted;
  draft.denied = total.denied;
  draft.notExecuted = total.notExecuted;
  draft.unresolved = total.unresolved;
  draft.attempts = total.attempts;
  draft.retries = total.retries;
  draft.callsMs = total.callsMs;
  draft.inputTokens = total.inputTokens;
  draft.outputTokens = total.outputTokens;
  draft.costUsd = total.costUsd;
  draft.unpriced = total.unpriced;
  draft.savedUsd = total.savedUsd;
  draft.failedByClass = total.failedByClass;
}

function endOperation(draft: Draft, op: OpPath): void {
  const iteration = iterationOf(op);
  if (iteration === undefined) {
    draft.loops.delete(op);
    return;
  }
  const progress = draft.loops.get(iteration.loop);
  if (progress !== undefined) progress.done += 1;
}
