/**
 * A run in Chrome's trace format, for ui.perfetto.dev and chrome://tracing. Spans of one
 * track must lie inside or behind each other there, so operations that run side by side get tracks of their own.
 */
import type { RunRef } from '../../journal/ids.js';
import type { CallCounts } from '../fold/calls/call-counts.js';
import { unpricedInFlight } from '../fold/calls/call-ledger.js';
import { sumUsd } from '../../journal/facts/add-usd.js';
import { costOfCall } from '../reports/timeline/call-cost.js';
import { callsOf, endOf, type Span, type Timeline } from '../reports/timeline/timeline.js';
import { outcomeOf as exportedOutcome } from './call-at-worker.js';
import { tracksOf } from '../reports/timeline/tracks.js';

const PROCESS = 1;
const RUN_TRACK = 0;
const US_PER_MS = 1000;

export function chromeTrace(ref: RunRef, state: Timeline): object {
  const placed = tracksOf(state);
  const last = Math.max(RUN_TRACK, ...placed.map(({ track }) => track));
  const startedMs = state.startedMs ?? 0;
  const tracks = Array.from({ length: last + 1 }, (_, track) => label('thread_name', track === 0 ? 'run' : `side by side ${track}`, track));
  return {
    displayTimeUnit: 'ms',
    otherData: { workflow: ref.workflow, run: ref.run, status: state.status ?? 'unfinished', ...countsOf(state) },
    traceEvents: [
      label('process_name', `${state.name ?? ref.workflow} ${ref.run}`, RUN_TRACK),
      ...tracks,
      ...placed.map(({ span, track }) => complete(state, span, track)),
      ...state.phases.map(({ name, atMs }) => instant(name, atMs, startedMs)),
    ],
  };

  function complete(timeline: Timeline, span: Span, track: number): object {
    const call = span.calls.at(-1);
    return {
      ph: 'X',
      pid: PROCESS,
      tid: track,
      name: span.name ?? span.kind,
      cat: call === undefined ? span.kind : exportedOutcome(call) === 'reused' ? 'llm,reused' : 'llm',
      ts: (span.startedMs - startedMs) * US_PER_MS,
      dur: (endOf(span, timeline) - span.startedMs) * US_PER_MS,
      args: {
        op: span.op,
        outcome: outcomeOf(span),
        item: span.item,
        message: span.message,
        asked: call?.preview,
        inputTokens: call?.usage?.inputTokens,
        outputTokens: call?.usage?.outputTokens,
        costUsd: call && costOfCall(call).costUsd,
        unpriced: call && (costOfCall(call).unpriced || undefined),
        worker: call?.worker?.name,
        workerHost: call?.worker?.host,
        workerUsd: call?.worker?.costUsd,
      },
    };
  }
}

type Counts = Omit<CallCounts, 'callsMs' | 'failedByClass'>;

/** Those that workers executed are there only where there are some; they count as executed, and their cost is not in `costUsd`. */
function countsOf(state: Timeline): Counts & { readonly atWorkers?: number; readonly atWorkersUsd?: number | null } {
  const { callsMs: _, failedByClass: __, ...counts } = state.ledger.total;
  let atWorkers = 0;
  let atWorkersUsd: number | null = null;
  for (const { call } of callsOf(state)) {
    if (call.worker === undefined || call.outcome !== 'reused') continue;
    atWorkers += 1;
    atWorkersUsd = sumUsd(atWorkersUsd, call.worker.costUsd);
  }
  const { executed, reused, unpriced } = counts;
  return {
    ...counts,
    executed: executed + atWorkers,
    reused: reused - atWorkers,
    unpriced: unpriced + unpricedInFlight(state.ledger),
    ...(atWorkers > 0 && { atWorkers, atWorkersUsd }),
  };
}

/** A call that failed shows also where the script went on with what the call gave. */
function outcomeOf({ outcome, calls }: Span): string {
  const call = calls.at(-1);
  const last = call?.outcome;
  if (outcome === 'reused' && call?.worker) return 'ok';
  return outcome === 'ok' && (last === 'failed' || last === 'denied') ? last : (outcome ?? 'unfinished');
}

function label(name: string, text: string, track: number): object {
  return { ph: 'M', pid: PROCESS, tid: track, name, args: { name: text } };
}

function instant(name: string, atMs: number, startedMs: number): object {
  return { ph: 'i', s: 'p', pid: PROCESS, tid: RUN_TRACK, name: `checkpoint ${name}`, ts: (atMs - startedMs) * US_PER_MS };
}
