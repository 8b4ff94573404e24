/** Lists the figures that the page follows from run to run, and words them. */
import type { FunctionPoint, RunPoint } from '../../replay/reports/stats/trend.js';
import { duration, money } from '../../cli/render/units.js';
import { number } from '../report/model/verdict-words.js';

export type Point = Pick<RunPoint, 'executed' | 'reused' | 'failed' | 'hitRate' | 'costUsd'> & { readonly timeMs: number | null };

export interface Metric {
  readonly title: string;
  /** Names the colour of the bars. */
  readonly name: 'cost' | 'time' | 'hits' | 'failures';
  /** Undefined where the run has nothing to measure. */
  readonly of: (point: Point) => number | undefined;
  readonly worded: (value: number) => string;
  /** Halves are compared by their sums instead of their medians. */
  readonly isCounted?: true;
  /** The top of the scale; by default the largest value. */
  readonly top?: number;
}

const percent = (rate: number): string => `${Math.round(100 * rate)} %`;

export const METRICS: readonly Metric[] = [
  { title: 'Cost', name: 'cost', of: ({ costUsd }) => costUsd ?? undefined, worded: money },
  { title: 'Time', name: 'time', of: ({ timeMs }) => timeMs ?? undefined, worded: duration },
  { title: 'Hit rate', name: 'hits', of: ({ hitRate }) => hitRate ?? undefined, worded: percent, top: 1 },
  { title: 'Failed calls', name: 'failures', of: ({ failed }) => failed, worded: number, isCounted: true },
];

export function pointOfRun(run: RunPoint): Point {
  return { ...run, timeMs: run.durationMs };
}

/** Undefined where the run had no call of the function. */
export function pointOfFunction(found: FunctionPoint | undefined): Point | undefined {
  return found && { ...found, timeMs: found.medianMs };
}

/** `4.0s in the earlier half, 2.0s in the later`: medians, which one odd run does not move, or sums; undefined for few runs. */
export function change(metric: Metric, points: readonly (Point | undefined)[]): string | undefined {
  const values = points.flatMap((point) => (point && metric.of(point)) ?? []);
  if (values.length < HALVES_FROM) return undefined;
  const half = Math.floor(values.length / 2);
  const whole = metric.isCounted ? sum : median;
  const [earlier, later] = [whole(values.slice(0, half)), whole(values.slice(-half))];
  const [was, is] = [metric.worded(earlier), metric.worded(later)];
  if (metric.isCounted && earlier + later === 0) return 'none';
  return was === is && !metric.isCounted ? `steady at ${is}` : `${was} in the earlier half, ${is} in the later`;
}

const HALVES_FROM = 4;

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function median(values: readonly number[]): number {
  const inOrder = [...values].sort((one, other) => one - other);
  const middle = inOrder.length / 2;
  const at = (place: number): number => inOrder[place] ?? 0;
  return Number.isInteger(middle) ? (at(middle - 1) + at(middle)) / 2 : at(Math.floor(middle));
}
