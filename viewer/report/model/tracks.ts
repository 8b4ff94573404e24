/** Puts calls on tracks, one for each function (of a workflow script: for each phase), and says what a track shows of a span of time. */
import type { Model, SpanState } from './page-model.js';

export interface Track {
  /** `@review`, or the name of a phase. */
  readonly name: string;
  /** Calls in the order in which they began, and the lane of each: calls of a lane don't overlap. */
  readonly calls: readonly number[];
  readonly lanes: readonly number[];
  readonly laneCount: number;
}

/** A part of a band. */
export interface Bin {
  /** The mean over its time: the width of a bin makes no difference. */
  readonly inFlight: number;
  readonly failed: number;
  readonly reused: number;
  /** The calls that ended in it. */
  readonly ended: number;
}

const FAILING: ReadonlySet<SpanState> = new Set(['failed', 'denied', 'not-executed', 'unfinished']);

export function isFailing(state: SpanState): boolean {
  return FAILING.has(state);
}

export function tracksOf(model: Model): readonly Track[] {
  const { groups, spans } = model.report;
  const byName = new Map<string, number[]>();
  for (const span of model.calls) {
    const name = groups[spans.group[span] ?? -1] ?? `@${model.fnOf(span)}`;
    const known = byName.get(name);
    if (known) known.push(span);
    else byName.set(name, [span]);
  }
  return [...byName].map(([name, calls]) => {
    const ends: number[] = [];
    const lanes = calls.map((span) => {
      const start = spans.start[span] as number;
      let lane = ends.findIndex((end) => end <= start);
      if (lane < 0) lane = ends.length;
      ends[lane] = Math.max(spans.end[span] as number, start + 1);
      return lane;
    });
    return { name, calls, lanes, laneCount: ends.length };
  });
}

/** Divides the time between `from` and `to` into so many bins. */
export function binsOf(
  model: Model,
  { calls }: Track,
  { from, to }: { readonly from: number; readonly to: number },
  count: number,
): readonly Bin[] {
  const { start, end } = model.report.spans;
  const width = (to - from) / count;
  const changes = new Float64Array(count + 1);
  const parts = new Float64Array(count);
  const failed = new Float64Array(count);
  const reused = new Float64Array(count);
  const ended = new Float64Array(count);
  const binAt = (ms: number): number => Math.max(0, Math.min(count - 1, Math.floor((ms - from) / width)));
  const add = (column: Float64Array, bin: number, more: number): void => void (column[bin] = (column[bin] as number) + more);
  for (const span of calls) {
    const [begun, over] = [start[span] as number, end[span] as number];
    if (over < from || begun > to) continue;
    const [first, last] = [binAt(begun), binAt(over)];
    if (first === last) add(parts, first, (Math.min(over, to) - Math.max(begun, from)) / width);
    else {
      add(parts, first, (from + (first + 1) * width - Math.max(begun, from)) / width);
      add(parts, last, (Math.min(over, to) - (from + last * width)) / width);
      add(changes, first + 1, 1);
      add(changes, last, -1);
    }
    if (over > to) continue;
    const state = model.stateOf(span);
    add(ended, last, 1);
    if (isFailing(state)) add(failed, last, 1);
    if (state === 'reused') add(reused, last, 1);
  }
  let whole = 0;
  return Array.from({ length: count }, (_, bin) => {
    whole += changes[bin] as number;
    const inFlight = whole + (parts[bin] as number);
    return { inFlight, failed: failed[bin] as number, reused: reused[bin] as number, ended: ended[bin] as number };
  });
}

/** True when calls of the track are wide enough in this span of time, and few enough side by side, to be drawn one by one. */
export function areCallsDrawn(
  model: Model,
  { calls, laneCount }: Track,
  { from, to, width }: { readonly from: number; readonly to: number; readonly width: number },
): boolean {
  if (laneCount > LANES_MAX) return false;
  if (calls.length <= CALLS_ALWAYS_DRAWN) return true;
  const { start, end } = model.report.spans;
  let seen = 0;
  let time = 0;
  for (const span of calls) {
    const [begun, over] = [start[span] as number, end[span] as number];
    if (over < from || begun > to || model.stateOf(span) === 'reused') continue;
    seen += 1;
    time += over - begun;
  }
  return seen === 0 ? calls.length * 4 <= width : ((time / seen) * width) / (to - from) >= CALL_PIXELS_MIN;
}

const LANES_MAX = 40;
/** A band of so few calls would show less than they do. */
const CALLS_ALWAYS_DRAWN = 40;
const CALL_PIXELS_MIN = 4;
