/** Folds what a plan needs of the last run: its calls, its checkpoints, and what the calls cost. */
import type { CallKey, OpPath, Seq } from '../../journal/ids.js';
import type { ReachedCheckpoint } from '../memo/checkpoints.js';
import { parentOf } from '../fold/op-path.js';
import { previewOf } from '../fold/preview.js';
import { measureConcurrency, noConcurrency, type CallConcurrency } from '../fold/call-concurrency.js';
import type { Projection } from '../fold/projection.js';
import { resultCosts, type ResultCosts } from '../fold/result-costs.js';
import { isOfSimulatedCall, noSimulatedCalls, type SimulatedCalls } from '../fold/simulated-calls.js';
import { notExecutedCalls, type NotExecuted } from './not-executed.js';

interface CallThen {
  readonly fn: string;
  /** First argument as text. */
  readonly preview: string | undefined;
  /** The events that started or reused it: one for each place of an equal call. */
  readonly starts: CallPlace[];
  /** The events that ended it, likewise. */
  readonly ends: CallPlace[];
  /** Its last execution was denied by a guard. */
  isDenied: boolean;
}

interface CallPlace {
  readonly seq: Seq;
  readonly op: OpPath;
}

export interface LatestRun {
  /** Every call that the run made. */
  readonly calls: Map<CallKey, CallThen>;
  readonly checkpoints: Map<string, ReachedCheckpoint>;
  /** The calls that it did not execute because of others. */
  readonly notExecuted: NotExecuted;
  readonly costs: ResultCosts;
  /** Measured with the calls that were not simulated. */
  readonly concurrency: CallConcurrency;
  /** The iterations in flight, by their loop. */
  readonly iterations: Map<OpPath, number>;
  /** The loops whose iterations ran in parallel. */
  readonly sideBySide: Set<OpPath>;
  readonly simulated: SimulatedCalls;
  /** It reached its end: else it had more calls ahead than it made. */
  isCompleted: boolean;
}

/** Folds the events of one run. */
export const latestRun: Projection<LatestRun> = {
  initial: () => ({
    calls: new Map(),
    checkpoints: new Map(),
    notExecuted: notExecutedCalls.initial(),
    costs: resultCosts.initial(),
    concurrency: noConcurrency(),
    iterations: new Map(),
    sideBySide: new Set(),
    simulated: noSimulatedCalls(),
    isCompleted: false,
  }),
  apply(state, event, place) {
    if (!isOfSimulatedCall(state.simulated, event)) measureConcurrency(state.concurrency, event);
    resultCosts.apply(state.costs, event, place);
    notExecutedCalls.apply(state.notExecuted, event, place);
    switch (event.type) {
      case 'op.started':
        if (event.kind === ITERATION) beginIteration(state, parentOf(event.op));
        return state;
      case 'op.finished':
        if (event.op.endsWith(']')) endIteration(state, parentOf(event.op));
        return state;
      case 'call.started':
        if (event.try === undefined) noteStart(state, event, event.preview ?? previewOf(event.args));
        return state;
      case 'call.reused':
        noteStart(state, event, event.preview);
        noteEnd(state, event);
        return state;
      case 'call.failed':
      case 'call.completed':
        if (event.type === 'call.failed' && event.retryInMs !== undefined) return state; // another attempt follows at the same place
        noteEnd(state, event);
        noteDenial(state, event);
        return state;
      case 'checkpoint.reached': {
        const { name, seq, resume, ttlMs, conditional } = event;
        state.checkpoints.set(name, { name, seq, resume, ttlMs, conditional, usedBefore: 0 });
        return state;
      }
      case 'run.finished':
        state.isCompleted = event.status === 'completed';
        return state;
      default:
        return state;
    }
  },
};

function noteStart(
  { calls }: LatestRun,
  { key, fn, seq, op }: { readonly key: CallKey; readonly fn: string } & CallPlace,
  preview: string | undefined,
): void {
  const known = calls.get(key);
  if (known === undefined) calls.set(key, { fn, preview, starts: [{ seq, op }], ends: [], isDenied: false });
  else known.starts.push({ seq, op });
}

function noteEnd({ calls }: LatestRun, { key, seq, op }: { readonly key: CallKey } & CallPlace): void {
  calls.get(key)?.ends.push({ seq, op });
}

/** Only loops of scripts count: code in another language may hand over values between what runs side by side. */
const ITERATION = 'for:iteration';

function beginIteration({ iterations, sideBySide }: LatestRun, loop: OpPath | undefined): void {
  if (loop === undefined) return;
  const open = iterations.get(loop) ?? 0;
  iterations.set(loop, open + 1);
  if (open > 0) sideBySide.add(loop);
}

function endIteration({ iterations }: LatestRun, loop: OpPath | undefined): void {
  const open = loop && iterations.get(loop);
  if (open === undefined || loop === undefined) return;
  if (open > 1) iterations.set(loop, open - 1);
  else iterations.delete(loop);
}

function noteDenial({ calls }: LatestRun, { key, denied }: { readonly key: CallKey; readonly denied?: true }): void {
  const known = calls.get(key);
  if (known !== undefined) known.isDenied = denied === true;
}
