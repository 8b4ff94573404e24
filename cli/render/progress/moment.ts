/** Works out what the progress of a run shows: the phase that takes longest, its pace, what is in flight, and the time that is left. */
import type { CallsAtWorkers, LaneHold, RunSummary } from '../../../src/api/reports/summary.js';

/** Times are durations in milliseconds, but for those of holds. */
export interface Moment {
  readonly elapsedMs: number;
  /** The loop that has most to do; absent outside loops. */
  readonly phase?: { readonly done: number; readonly total: number };
  /** Counts items of the phase, or calls outside loops. Absent while too little is known. */
  readonly perSecond?: number;
  readonly leftMs?: number;
  readonly executed: number;
  readonly reused: number;
  readonly failed: number;
  readonly retries: number;
  readonly costUsd: number | null;
  /** Attempts that have ended without a known cost. */
  readonly unpriced: number;
  readonly inFlight: number;
  /** The call that is in flight for the longest time. */
  readonly oldest?: { readonly fn: string; readonly preview?: string; readonly durationMs: number };
  /** Absent while workers execute none. */
  readonly atWorkers?: CallsAtWorkers;
  readonly holds: readonly LaneHold[];
  /** Questions that people have not answered, the oldest first. */
  readonly questions: readonly { readonly id: string; readonly node: string; readonly text: string; readonly waitedMs: number }[];
  /** Milliseconds since 1970. */
  readonly todayMs: number;
}

export interface Clock {
  readonly nowMs: () => number;
  /** Milliseconds since 1970. */
  readonly todayMs: () => number;
}

/** A pace needs so much time between two samples. */
const PACE_AFTER_MS = 1000;
/** The pace is that of the last moments: hits at the start say nothing of the calls that follow. */
const PACE_WINDOW_MS = 20_000;

interface Sample {
  readonly atMs: number;
  readonly done: number;
}

/** Returns a function that looks at the run now. It keeps what it needs of earlier looks to know the pace. */
export function watchPace({ nowMs, todayMs }: Clock): (summary: RunSummary, atWorkers?: CallsAtWorkers) => Moment {
  const startedMs = nowMs();
  const samples: Sample[] = [];
  let phaseOp: string | undefined;
  return (summary, atWorkers) => {
    const now = nowMs();
    const phase = longestLoop(summary);
    if (phase?.op !== phaseOp) samples.length = 0; // another phase has a pace of its own
    phaseOp = phase?.op;
    sample(samples, { atMs: now, done: phase?.done ?? summary.executed });
    const perSecond = paceOf(samples);
    return {
      ...momentOf(summary, todayMs()),
      elapsedMs: now - startedMs,
      ...(atWorkers && atWorkers.calls > 0 && { atWorkers }),
      ...(phase && { phase: { done: phase.done, total: phase.total } }),
      ...(perSecond !== undefined && { perSecond }),
      ...(phase && perSecond !== undefined && { leftMs: Math.round(((phase.total - phase.done) / perSecond) * 1000) }),
    };
  };
}

/** A run that neither calls a model nor waits for a person has no progress worth a line. */
export function hasProgress({ executed, reused, failed, inFlight, questions }: RunSummary, atWorkers?: CallsAtWorkers): boolean {
  return executed + reused + failed + inFlight.size + questions.size + (atWorkers?.calls ?? 0) > 0;
}

function momentOf(
  { executed, reused, failed, retries, costUsd, unpriced, inFlight, holds, questions }: RunSummary,
  todayMs: number,
): Omit<Moment, 'elapsedMs'> {
  // A map keeps the order of insertion, so the first call is the oldest.
  const [first] = inFlight.values();
  return {
    executed,
    reused,
    failed,
    retries,
    costUsd,
    unpriced,
    inFlight: inFlight.size,
    ...(first && {
      oldest: {
        fn: first.fn,
        ...(first.preview !== undefined && { preview: first.preview }),
        durationMs: Math.max(0, Math.round(todayMs - first.startedMs)),
      },
    }),
    holds: [...holds.values()].filter(({ stopped, untilMs }) => stopped !== undefined || (untilMs !== undefined && untilMs > todayMs)),
    questions: [...questions.values()].map(({ id, node, text, ts }) => ({
      id,
      node,
      text,
      waitedMs: Math.max(0, todayMs - Date.parse(ts)),
    })),
    todayMs,
  };
}

/** The loop with most to do: loops inside it begin and end all the time. */
function longestLoop({ loops }: RunSummary): { readonly op: string; readonly done: number; readonly total: number } | undefined {
  let longest: { readonly op: string; readonly done: number; readonly total: number } | undefined;
  for (const loop of loops.values()) if (longest === undefined || loop.total > longest.total) longest = loop;
  return longest;
}

function sample(samples: Sample[], latest: Sample): void {
  samples.push(latest);
  while (samples.length > 2 && (samples[1]?.atMs ?? latest.atMs) < latest.atMs - PACE_WINDOW_MS) samples.shift();
}

/** Undefined while there are too few samples. */
function paceOf(samples: readonly Sample[]): number | undefined {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined || last.atMs - first.atMs < PACE_AFTER_MS || last.done <= first.done) return undefined;
  return ((last.done - first.done) / (last.atMs - first.atMs)) * 1000;
}
