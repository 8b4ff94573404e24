/**
 * Folds the events of a run to the reasons for which it did not complete.
 *
 * POSTMORTEM-3 any prefix is a legal input: for a run that crashed or is in flight, the operations in flight say how far it is
 * POSTMORTEM-4 memory in proportion to what is in flight and to the calls made, not to events
 */
import { teamCalls, type TeamCalls } from '../team/team-calls.js';
import type { EventOf } from '../../../journal/event.js';
import type { BlobId, CallKey, OpPath, Seq, Workflow } from '../../../journal/ids.js';
import {
  costOfReceived,
  emptyLedger,
  failedInExecutionBefore,
  followCall,
  type CallLedger,
  type CountedCall,
} from '../../fold/calls/call-ledger.js';
import { isRepeated, stageOf } from '../../fold/calls/stage-retries.js';
import { isEndOfCall } from '../../fold/calls/ended-call.js';
import { flawOf } from '../../fold/calls/failure-class.js';
import {
  beginningOf,
  countFailure,
  forgetAttemptBefore,
  forgetFailure,
  forgetInExecutionBefore,
  forgetMadeAgain,
  SAID_UNITS_MAX,
  tally,
  type GuardDenial,
  type HookFailure,
} from './failure-groups.js';
import { nodeVisits, type NodeVisits } from '../../pipeline/node-visits.js';
import { callAround, countInLoops, endCall, endStep, startStep, type InFlightOperations } from './in-flight-operations.js';
import { measureConcurrency, noConcurrency, type CallConcurrency } from '../../fold/call-concurrency.js';
import { dispatchState, type DispatchState } from './dispatch-state.js';
import { previewOf } from '../../fold/preview.js';
import type { Projection } from '../../fold/projection.js';
import { isOfSimulatedCall, noSimulatedCalls, type SimulatedCalls } from '../../fold/simulated-calls.js';
import { SIMULATED } from '../../../journal/facts/simulated-backend.js';

/**
 * The reason for which a call has no reusable result. `offered`: no worker had begun it; `invalidated`: it had one when the run ended, and
 * has none now, or none as soon as the run is resumed; `unjudged`: its result came back, and the guards behind it have not judged it;
 * `waiting`: it waited for its next attempt, or for a call inside it.
 */
export type Unresolved =
  'in-flight' | 'waiting' | 'offered' | 'failed' | 'not-executed' | 'denied' | 'unusable' | 'invalidated' | 'unjudged';

/** A call that had a result when the run ended. */
export interface ResolvedCall {
  readonly fn: string;
  readonly preview: string | undefined;
  /** The fork source that the result belongs to. */
  readonly forkSource: Workflow | undefined;
}

/** Time and cost of the calls of a function; simulated ones count in a run alone that simulates all, because a resume of it does too. */
export interface Rate {
  calls: number;
  durationMs: number;
  /** The costs of its results in their order, each with all attempts of its call, as far as they are known. */
  readonly costs: number[];
  /** Those that did nothing but make calls, whose cost is theirs. */
  onlyCalls: number;
}

export interface PostMortem extends InFlightOperations {
  started: EventOf<'run.started'> | undefined;
  /** Empty but of a pipeline. */
  readonly nodes: NodeVisits;
  lastMs: number;
  lastSeq: number;
  readonly sources: Map<string, BlobId>;
  readonly hookFailures: Map<string, HookFailure>;
  readonly denials: Map<string, GuardDenial>;
  checkpoint: { readonly name: string; readonly seq: Seq; closed: boolean } | undefined;
  /** Phases of a workflow script that its calls named: each is reached once. */
  readonly phases: Set<string>;
  readonly ledger: CallLedger;
  /** The calls that wait for workers: each is counted already. */
  readonly offered: Map<OpPath, CallKey>;
  readonly team: TeamCalls;
  readonly dispatch: DispatchState;
  readonly resolved: Map<CallKey, ResolvedCall>;
  readonly unresolved: Map<CallKey, { readonly fn: string; readonly preview: string | undefined; why: Unresolved }>;
  /** The calls whose results came back, and that no guard has judged: a resume does not pay for them again. */
  readonly unjudged: Set<CallKey>;
  /** The calls around those that were made inside others alone: a resume needs none of what is inside a reused one. */
  readonly within: Map<CallKey, Set<CallKey>>;
  readonly rates: Map<string, Rate>;
  readonly concurrency: CallConcurrency;
  readonly simulated: SimulatedCalls;
}

/** Folds the events of one run. */
export const postMortem: Projection<PostMortem> = {
  initial: () => ({
    started: undefined,
    finished: undefined,
    nodes: nodeVisits.initial(),
    lastMs: 0,
    lastSeq: -1,
    sources: new Map(),
    steps: new Map(),
    risen: new Map(),
    counted: new Set(),
    failures: new Map(),
    failedCalls: new Map(),
    failedStages: new Map(),
    hookFailures: new Map(),
    denials: new Map(),
    checkpoint: undefined,
    phases: new Set(),
    ledger: emptyLedger(),
    team: teamCalls.initial(),
    dispatch: dispatchState.initial(),
    resolved: new Map(),
    unresolved: new Map(),
    unjudged: new Set(),
    offered: new Map(),
    within: new Map(),
    rates: new Map(),
    concurrency: noConcurrency(),
    simulated: noSimulatedCalls(),
  }),
  apply(state, event, place) {
    nodeVisits.apply(state.nodes, event, place);
    dispatchState.apply(state.dispatch, event, place);
    teamCalls.apply(state.team, event);
    state.lastMs = Date.parse(event.ts);
    state.lastSeq = event.seq;
    const isMeasured = !isOfSimulatedCall(state.simulated, event) || state.started?.backend === SIMULATED;
    if (isMeasured) measureConcurrency(state.concurrency, event);
    const again = event.type === 'call.started' || event.type === 'call.reused' ? failedInExecutionBefore(state.ledger, event) : [];
    const ended = followCall(state.ledger, event);
    forgetInExecutionBefore(state, again);
    switch (event.type) {
      case 'run.started':
        state.started = event;
        break;
      case 'run.finished':
        state.finished = event;
        break;
      case 'source.loaded':
        state.sources.set(event.path, event.blob);
        break;
      case 'op.started':
        startStep(state, event, state.lastMs);
        if (event.group !== undefined) reachPhase(state, event.group, event.seq);
        break;
      case 'op.finished':
        endStep(state, event);
        break;
      case 'call.offered':
        offerCall(state, event);
        break;
      case 'call.started':
        startCall(state, event);
        break;
      case 'call.withdrawn':
        withdrawCall(state, event);
        break;
      case 'call.completed':
        completeCall(state, event, ended, isMeasured);
        break;
      case 'call.reused':
        endCall(state.steps.get(event.op));
        notePlace(state, event);
        settle(state, event, { fn: event.fn, preview: event.preview, forkSource: event.from.workflow });
        if (!state.offered.delete(event.op)) countInLoops(state, event.op, event.fn, { isReused: true });
        break;
      case 'call.failed':
        if (event.denied) state.unjudged.delete(event.key);
        if (isEndOfCall(event)) failCall(state, event, ended);
        else holdCall(state, event);
        break;
      case 'retry.scheduled':
        forgetAttemptBefore(state, event.op); // it waits for the next one, and has not failed
        break;
      case 'result.received':
        state.unjudged.add(event.key);
        if (isMeasured) noteCost(state, costOfReceived(state.ledger, event));
        break;
      case 'effect.performed':
        noteExitStatus(state, event);
        break;
      case 'hook.fired':
        if (event.error !== undefined) {
          const { hook, timing, filter, error, op, seq } = event;
          tally(state.hookFailures, [hook, timing, filter, error], { hook, timing, filter, error, op, seq });
        }
        break;
      case 'guard.decided':
        if (event.decision === 'deny') {
          const { guard, timing, filter, reason, op, seq } = event;
          tally(state.denials, [guard, timing, filter, reason], { guard, timing, filter, reason, op, seq });
        }
        break;
      case 'checkpoint.reached':
        state.phases.add(event.name);
        state.checkpoint = { name: event.name, seq: event.seq, closed: false };
        break;
      case 'checkpoint.closed':
        if (state.checkpoint?.name === event.name) state.checkpoint.closed = true;
        break;
      default:
        break;
    }
    return state;
  },
};

/** Called before the call is noted as made. */
function notePlace(state: PostMortem, { key, op }: { readonly key: CallKey; readonly op: OpPath }): void {
  const around = callAround(state, op)?.key;
  const known = state.within.get(key);
  if (around === undefined) state.within.delete(key);
  else if (known !== undefined) known.add(around);
  else if (!state.resolved.has(key) && !state.unresolved.has(key)) state.within.set(key, new Set([around]));
}

/** `phase: 'Check'` of a call reaches the phase as `phase('Check')` does: `--resume Check` finds it. */
function reachPhase(state: PostMortem, name: string, seq: Seq): void {
  if (state.phases.has(name)) return;
  state.phases.add(name);
  state.checkpoint = { name, seq, closed: false };
}

function offerCall(state: PostMortem, event: EventOf<'call.offered'>): void {
  const { op, key, fn } = event;
  notePlace(state, event);
  state.unresolved.set(key, { fn, preview: undefined, why: 'offered' });
  state.offered.set(op, key);
  const step = state.steps.get(op);
  if (step !== undefined) step.waitsFor = undefined; // it is counted as made, here and where a pause ends it
  countInLoops(state, op, fn);
}

function startCall(state: PostMortem, event: EventOf<'call.started'>): void {
  const { op, key, fn, site } = event;
  const preview = event.preview ?? previewOf(event.args);
  const step = state.steps.get(op);
  notePlace(state, event);
  if (step !== undefined) {
    step.waitsFor = undefined;
    step.isCallOver = false;
    step.call = {
      key,
      fn,
      preview,
      startedMs: step.call?.startedMs ?? state.lastMs, // of its first attempt
      waits: false,
      failedCommands: step.call?.failedCommands ?? [],
    };
    step.site ??= site;
  }
  state.resolved.delete(key);
  state.unresolved.set(key, { fn, preview, why: 'in-flight' });
  if (event.received) state.unjudged.add(key); // it waits on, whatever ends this run
  if (event.try !== undefined || state.offered.delete(op)) return;
  countInLoops(state, op, fn);
}

/** Its body did not begin: the call is made by another run. */
function withdrawCall(state: PostMortem, { op, key, try: tried = 1 }: EventOf<'call.withdrawn'>): void {
  const step = state.steps.get(op);
  const fn = step?.call?.fn ?? state.unresolved.get(key)?.fn;
  state.unresolved.delete(key);
  if (step !== undefined) step.call = undefined;
  if (tried === 1 && fn !== undefined) countInLoops(state, op, fn, { by: -1 });
}

/** Returns the stage that makes the call; where that is tried again, the failure of its attempt before counts no more. */
function stageAgain(state: PostMortem, op: OpPath): string | undefined {
  const stage = stageOf(op);
  if (stage !== undefined && isRepeated(state.ledger.stages, op)) forgetAttemptBefore(state, stage);
  return stage;
}

function completeCall(state: PostMortem, event: EventOf<'call.completed'>, ended: CountedCall | undefined, isMeasured: boolean): void {
  stageAgain(state, event.op);
  const { op, key, unusable, result, seq } = event;
  const step = state.steps.get(op);
  const fn = step?.call?.fn ?? state.unresolved.get(key)?.fn ?? op;
  endCall(step);
  if (isMeasured) measure(state, fn, event, ended);
  const open = state.unresolved.get(key);
  if (unusable === undefined) return settle(state, event, { fn, preview: open?.preview, forkSource: undefined });
  if (open !== undefined) open.why = 'unusable';
  if (flawOf(event) !== 'command') return;
  const said = beginningOf(result);
  countFailure(state, fn, said === '' ? unusable : `${unusable}: ${said}`, { op, seq, key }, event.class);
}

function failCall(state: PostMortem, event: EventOf<'call.failed'>, ended: CountedCall | undefined): void {
  const { op, key, message, denied, seq, fn } = event;
  const step = state.steps.get(op);
  const open = state.unresolved.get(key);
  if (ended === undefined) {
    // An execution that a guard requested: the call around it fails or goes on. Where its guards judge again, they request it again.
    if (open !== undefined) open.why = 'failed';
    endCall(step);
    state.counted.add(op);
    return;
  }
  const what = step?.call?.fn ?? open?.fn ?? fn ?? step?.name ?? op;
  const stage = stageAgain(state, op);
  if (ended?.outcome === 'failed') forgetMadeAgain(state, event, state.ledger.failures);
  const group = countFailure(state, what, message, { op, seq, key }, denied === true ? 'denied' : ended?.cause);
  if (stage !== undefined && group !== undefined) state.failedStages.set(stage, { key, group });
  for (const command of step?.call?.failedCommands ?? []) forgetFailure(state.failures, command);
  const why = denied === true ? 'denied' : ended?.outcome === 'not-executed' ? 'not-executed' : 'failed';
  if (open !== undefined) open.why = why;
  else if (why === 'not-executed' && !state.resolved.has(key)) {
    notePlace(state, event);
    state.unresolved.set(key, { fn: what, preview: undefined, why });
  }
  if (step !== undefined) {
    endCall(step);
    if (denied !== true) step.failedIn = event.class;
    state.counted.add(op);
  }
}

/** It has not failed: another attempt was to follow, or the run ended while it waited. */
function holdCall({ steps, unresolved }: PostMortem, { op, key }: EventOf<'call.failed'>): void {
  const call = steps.get(op)?.call;
  const open = unresolved.get(key);
  if (call !== undefined) call.waits = true;
  if (open !== undefined) open.why = 'waiting';
}

function settle(state: PostMortem, event: EventOf<'call.completed' | 'call.reused'>, had: ResolvedCall): void {
  const { key } = event;
  state.resolved.set(key, had);
  state.unjudged.delete(key);
  state.unresolved.delete(key);
  forgetMadeAgain(state, event, state.ledger.failures);
}

/** Counts failed commands of the script itself; a command for which a call fails is counted with the call. */
function noteExitStatus(state: PostMortem, event: EventOf<'effect.performed'>): void {
  if (state.steps.get(event.op)?.call !== undefined) return;
  if (event.kind !== 'command.run' || event.result === undefined || !('inline' in event.result)) return;
  const { exitCode, stderr } = (event.result.inline ?? {}) as { readonly exitCode?: unknown; readonly stderr?: unknown };
  if (typeof exitCode !== 'number' || exitCode === 0) return;
  const said = typeof stderr === 'string' ? stderr.trim().slice(0, SAID_UNITS_MAX) : '';
  const message = `ended with status ${exitCode}: ${said === '' ? event.subject : said}`;
  const group = countFailure(state, 'command', message, { op: event.op, seq: event.seq });
  if (group !== undefined) callAround(state, event.op)?.failedCommands.push(group);
  // A status that also ends the operation is one failure, not two.
  if (state.steps.has(event.op)) state.counted.add(event.op);
}

function measure(state: PostMortem, fn: string, { elapsedMs }: EventOf<'call.completed'>, ended: CountedCall | undefined): void {
  const rate = rateOf(state, fn);
  rate.calls += 1;
  rate.durationMs += elapsedMs;
  if (ended?.onlyCalls) rate.onlyCalls += 1;
  if (!ended?.wasReceived) noteCost(state, { fn, usd: ended?.totalUsd });
}

function noteCost(state: PostMortem, cost: { readonly fn: string; readonly usd: number | undefined } | undefined): void {
  if (cost?.usd !== undefined) rateOf(state, cost.fn).costs.push(cost.usd);
}

function rateOf(state: PostMortem, fn: string): Rate {
  let rate = state.rates.get(fn);
  if (rate === undefined) state.rates.set(fn, (rate = { calls: 0, durationMs: 0, costs: [], onlyCalls: 0 }));
  return rate;
}
