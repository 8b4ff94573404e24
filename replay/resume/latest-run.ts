/** What a plan asks of the last run: which questions came up there, under which checkpoints, and what their calls cost. */
import type { CallKey, Seq } from '../../journal/ids.js';
import type { ReachedCheckpoint } from '../memo/checkpoints.js';
import { previewOf } from '../fold/preview.js';
import { measureConcurrency, noConcurrency, type CallConcurrency } from '../fold/call-concurrency.js';
import type { Projection } from '../fold/projection.js';

interface CallThen {
  readonly fn: string;
  /** First argument as text. */
  readonly preview: string | undefined;
  /** Where it came up last. */
  lastSeq: Seq;
  /** Where it was first answered, or failed. */
  endedSeq: Seq | undefined;
}

export interface LatestRun {
  /** Every question that came up. */
  readonly calls: Map<CallKey, CallThen>;
  readonly checkpoints: Map<string, ReachedCheckpoint>;
  /** By function: what its calls cost, where they told it. */
  readonly costs: Map<string, { usd: number; calls: number }>;
  readonly concurrency: CallConcurrency;
}

/** Of one run. */
export const latestRun: Projection<LatestRun> = {
  initial: () => ({ calls: new Map(), checkpoints: new Map(), costs: new Map(), concurrency: noConcurrency() }),
  apply(state, event) {
    measureConcurrency(state.concurrency, event);
    switch (event.type) {
      case 'call.started':
        noteStart(state, event, event.preview ?? previewOf(event.args));
        return state;
      case 'call.reused':
        noteStart(state, event, event.preview);
        noteEnd(state, event);
        return state;
      case 'call.failed':
        noteEnd(state, event);
        return state;
      case 'call.completed': {
        noteEnd(state, event);
        const fn = state.calls.get(event.key)?.fn;
        const usd = event.usage?.costUsd;
        if (fn === undefined || usd === undefined) return state;
        const cost = state.costs.get(fn) ?? { usd: 0, calls: 0 };
        state.costs.set(fn, { usd: cost.usd + usd, calls: cost.calls + 1 });
        return state;
      }
      case 'checkpoint.reached': {
        const { name, seq, resume, ttlMs, conditional } = event;
        state.checkpoints.set(name, { name, seq, resume, ttlMs, conditional, usedBefore: 0 });
        return state;
      }
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
  if (known === undefined) calls.set(key, { fn, preview, lastSeq: seq, endedSeq: undefined });
  else known.lastSeq = seq;
}

function noteEnd({ calls }: LatestRun, { key, seq }: { readonly key: CallKey; readonly seq: Seq }): void {
  const known = calls.get(key);
  if (known !== undefined) known.endedSeq ??= seq;
}
