/** Folds what a plan needs of the last run: its calls, its checkpoints, and what the calls cost. */
import type { CallKey, Seq } from '../../journal/ids.js';
import type { ReachedCheckpoint } from '../memo/checkpoints.js';
import { previewOf } from '../fold/preview.js';
import { measureConcurrency, noConcurrency, type CallConcurrency } from '../fold/call-concurrency.js';
import type { Projection } from '../fold/projection.js';
import { resultCosts, type ResultCosts } from '../fold/result-costs.js';
import { notExecutedCalls, type NotExecuted } from './not-executed.js';

interface CallThen {
  readonly fn: string;
  /** First argument as text. */
  readonly preview: string | undefined;
  /** The last event that started or reused it. */
  lastSeq: Seq;
  /** The first event that ended it. */
  endedSeq: Seq | undefined;
  /** Its last execution was denied by a guard. */
  isDenied: boolean;
}

export interface LatestRun {
  /** Every call that the run made. */
  readonly calls: Map<CallKey, CallThen>;
  readonly checkpoints: Map<string, ReachedCheckpoint>;
  /** The calls that it did not execute because of others. */
  readonly notExecuted: NotExecuted;
  readonly costs: ResultCosts;
  readonly concurrency: CallConcurrency;
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
    isCompleted: false,
  }),
  apply(state, event, place) {
    measureConcurrency(state.concurrency, event);
    resultCosts.apply(state.costs, event, place);
    notExecutedCalls.apply(state.notExecuted, event, place);
    switch (event.type) {
      case 'call.started':
        noteStart(state, event, event.preview ?? previewOf(event.args));
        return state;
      case 'call.reused':
        noteStart(state, event, event.preview);
        noteEnd(state, event);
        return state;
      case 'call.failed':
      case 'call.completed':
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
  { key, fn, seq }: { readonly key: CallKey; readonly fn: string; readonly seq: Seq },
  preview: string | undefined,
): void {
  const known = calls.get(key);
  if (known === undefined) calls.set(key, { fn, preview, lastSeq: seq, endedSeq: undefined, isDenied: false });
  else known.lastSeq = seq;
}

function noteEnd({ calls }: LatestRun, { key, seq }: { readonly key: CallKey; readonly seq: Seq }): void {
  const known = calls.get(key);
  if (known !== undefined) known.endedSeq ??= seq;
}

function noteDenial({ calls }: LatestRun, { key, denied }: { readonly key: CallKey; readonly denied?: true }): void {
  const known = calls.get(key);
  if (known !== undefined) known.isDenied = denied === true;
}
