/** Draws a bar for each run. The table of runs has the same figures for those who do not see them. */
import type { RunPoint } from '../../replay/reports/stats/trend.js';
import { time } from '../../cli/render/units.js';
import { change, type Metric, type Point } from './metrics.js';

const HEIGHT = 60;
const STEP = 10;
const BAR = 8;
/** A value that is not nothing is seen. */
const LEAST = 1.5;

export function Bars({
  metric,
  points,
  runs,
  about,
}: {
  readonly metric: Metric;
  /** One for each run; undefined where it has none. */
  readonly points: readonly (Point | undefined)[];
  readonly runs: readonly RunPoint[];
  readonly about: string;
}) {
  const values = points.map((point) => point && metric.of(point));
  const known = values.filter((value) => value !== undefined);
  const top = metric.top ?? Math.max(0, ...known);
  const latest = known.at(-1);
  const words = change(metric, points);
  return (
    <figure class="metric">
      <figcaption>
        {metric.title} <b>{latest === undefined ? '–' : metric.worded(latest)}</b>
      </figcaption>
      <svg
        viewBox={`0 0 ${Math.max(1, values.length) * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${metric.title} of ${about}, run by run${words === undefined ? '' : `: ${words}`}`}
      >
        {values.map((value, place) => {
          const run = runs[place];
          if (!run) return null;
          const height = value === undefined || value === 0 || top === 0 ? 0 : Math.max(LEAST, (value / top) * HEIGHT);
          return (
            <g key={run.run}>
              <rect class="ground" x={place * STEP} y={0} width={STEP} height={HEIGHT}>
                <title>{`${time(Date.parse(run.started))}, ${run.status}: ${value === undefined ? 'nothing to measure' : metric.worded(value)}`}</title>
              </rect>
              <rect class={`bar ${metric.name}`} x={place * STEP + 1} y={HEIGHT - height} width={BAR} height={height} />
            </g>
          );
        })}
      </svg>
      <p class="muted">{words ?? (known.length === 0 ? 'nothing to measure' : `the latest of ${known.length}`)}</p>
    </figure>
  );
}
