/** What a plan asks of the last run: which questions came up there, under which checkpoints, and what their calls cost. */
import type { CallKey, Seq } from '../../journal/ids.js';
import type { ReachedCheckpoint } from '../memo/checkpoints.js';
import { previewOf } from '../fold/preview.js';
import { measureConcurrency, noConcurrency, type CallConcurrency } from '../fold/call-concurrency.js';
import type { Projection } from '../fold/projection.js';

interface AskedThen {
  readonly fn: string;
  /** First argument as text. */
  readonly preview: string | undefined;
  /** Where it came up last. */
  lastSeq: Seq;
  /** Where it was first answered, or failed. */
  answeredSeq: Seq | undefined;
}

export interface LatestRun {
  /** Every question that came up. */
  readonly asked: Map<CallKey, AskedThen>;
  readonly checkpoints: Map<string, ReachedCheckpoint>;
  /** By function: what its calls cost, where they told it. */
  readonly costs: Map<string, { usd: number; calls: number }>;
  readonly concurrency: CallConcurrency;
}

/** Of one run. */
export const latestRun: Projection<LatestRun> = {
  initial: () => ({ asked: new Map(), checkpoints: new Map(), costs: new Map(), concurrency: noConcurrency() }),
  apply(state, event) {
    measureConcurrency(state.concurrency, event);
    switch (event.type) {
      case 'call.started':
        noteAsked(state, event, event.preview ?? previewOf(event.args));
        return state;
      case 'call.reused':
        noteAsked(state, event, event.preview);
        noteAnswered(state, event);
        return state;
      case 'call.failed':
        noteAnswered(state, event);
        return state;
      case 'call.completed': {
        noteAnswered(state, event);
        const fn = state.asked.get(event.key)?.fn;
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

function noteAsked(
  { asked }: LatestRun,
  { key, fn, seq }: { readonly key: CallKey; readonly fn: string; readonly seq: Seq },
  preview: string | undefined,
): void {
  const known = asked.get(key);
  if (known === undefined) asked.set(key, { fn, preview, lastSeq: seq, answeredSeq: undefined });
  else known.lastSeq = seq;
}

function noteAnswered({ asked }: LatestRun, { key, seq }: { readonly key: CallKey; readonly seq: Seq }): void {
  const known = asked.get(key);
  if (known !== undefined) known.answeredSeq ??= seq;
}
