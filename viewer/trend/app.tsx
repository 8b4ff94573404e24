/** Puts the page over many runs together: what they came to, how each figure developed, the same by function, and every run. */
import type { RunPoint, Trend } from '../../replay/reports/stats/trend.js';
import { costOrDash, duration, durationOrDash, money, moneyOrDash, time } from '../../cli/render/units.js';
import { number } from '../report/model/verdict-words.js';
import { Figures, type Figure } from '../report/parts/figures.js';
import { Table } from '../report/parts/table.js';
import { Bars } from './bars.js';
import { METRICS, pointOfFunction, pointOfRun } from './metrics.js';

/** Functions beyond this number are in the table alone. */
const CHARTED_MAX = 12;

export function App({ trend }: { readonly trend: Trend }) {
  return (
    <>
      <Head trend={trend} />
      <main>
        {trend.runs.length > 0 && (
          <>
            <section class="card" aria-labelledby="title-runs">
              <h2 id="title-runs">
                Run by run <small>oldest on the left</small>
              </h2>
              <div class="metrics">
                {METRICS.map((metric) => (
                  <Bars key={metric.name} metric={metric} points={trend.runs.map(pointOfRun)} runs={trend.runs} about="all calls" />
                ))}
              </div>
            </section>
            <Functions trend={trend} />
            <Runs trend={trend} />
          </>
        )}
      </main>
    </>
  );
}

function Head({ trend }: { readonly trend: Trend }) {
  const { workflow, runs, total, statuses } = trend;
  const [first, last] = [runs[0], runs.at(-1)];
  const figures: readonly Figure[] = [
    {
      term: 'Runs',
      value: number(total.runs),
      more: Object.entries(statuses)
        .map(([status, count]) => `${count} ${status}`)
        .join(', '),
    },
    {
      term: 'Calls',
      value: number(total.executed + total.reused),
      more: `${number(total.executed)} executed, ${number(total.reused)} reused`,
    },
    { term: 'Hit rate', value: total.hitRate === null ? '–' : `${Math.round(100 * total.hitRate)} %`, more: 'of the calls with a result' },
    {
      term: 'Failed calls',
      value: number(total.failed),
      more: `${number(total.retries)} retries`,
      mark: total.failed > 0 ? 'bad' : undefined,
    },
    {
      term: 'A complete run',
      value: durationOrDash(total.medianMs),
      more: `in the median; the slowest ${durationOrDash(total.slowestMs)}`,
    },
    {
      term: 'Cost',
      value: moneyOrDash(total.costUsd),
      more: total.savedUsd ? `${money(total.savedUsd)} saved` : `${number(total.unpriced)} attempts unpriced`,
    },
  ];
  return (
    <header class="head">
      <p class="crumbs">
        {first && last && (
          <span>
            {time(Date.parse(first.started))} to {time(Date.parse(last.started))}
          </span>
        )}
      </p>
      <h1>{workflow}</h1>
      <p class="sentence">{sentenceOf(trend)}</p>
      <Figures figures={figures} />
    </header>
  );
}

function sentenceOf({ runs, total }: Trend): string {
  if (total.runs === 0) return 'No run is recorded.';
  const incomplete = runs.filter(({ status }) => status === 'incomplete').length;
  if (total.runs === 1) return `The only run ${total.completed === 1 ? 'was completed' : shortcomingOf(incomplete)}.`;
  const completed =
    total.completed === total.runs
      ? `All of the latest ${total.runs} runs were`
      : `${total.completed} of the latest ${total.runs} runs were`;
  return `${completed} completed${incomplete === 0 ? '' : `; ${incomplete} reached the end with unresolved calls`}.`;
}

function shortcomingOf(incomplete: number): string {
  return incomplete === 1 ? 'reached its end with unresolved calls' : 'was not completed';
}

function Functions({ trend: { functions, runs } }: { readonly trend: Trend }) {
  if (functions.length === 0) return null;
  return (
    <section class="card" aria-labelledby="title-functions">
      <h2 id="title-functions">By function</h2>
      <Table
        label="Functions"
        columns={[
          { title: 'Function' },
          ...['Executed', 'Reused', 'Failed', 'Hit rate', 'Median', '90 % within', 'Cost of a result', 'Cost'].map(numeric),
        ]}
        rows={functions.map((each) => [
          <code>@{each.fn}</code>,
          number(each.executed),
          number(each.reused),
          <Failed count={each.failed} />,
          percent(each.hitRate),
          durationOrDash(each.medianMs),
          durationOrDash(each.p90Ms),
          moneyOrDash(each.medianResultUsd),
          costOrDash(each),
        ])}
      />
      {functions.slice(0, CHARTED_MAX).map(({ fn }) => (
        <div key={fn} class="function">
          <h3>
            <code>@{fn}</code>
          </h3>
          <div class="metrics small">
            {METRICS.map((metric) => (
              <Bars
                key={metric.name}
                metric={metric.name === 'time' ? { ...metric, title: 'Median time' } : metric}
                points={runs.map(({ functions: all }) => pointOfFunction(all.find((each) => each.fn === fn)))}
                runs={runs}
                about={`@${fn}`}
              />
            ))}
          </div>
        </div>
      ))}
    </section>
  );
}

function Runs({ trend: { runs } }: { readonly trend: Trend }) {
  return (
    <section class="card" aria-labelledby="title-all">
      <h2 id="title-all">
        Runs <small>the latest first</small>
      </h2>
      <Table
        label="Runs"
        columns={[
          { title: 'Started' },
          { title: 'Status' },
          ...['Executed', 'Reused', 'Failed', 'Hit rate', 'Time', 'Cost'].map(numeric),
          { title: 'Run' },
        ]}
        rows={[...runs]
          .reverse()
          .map((each) => [
            time(Date.parse(each.started)),
            <Status run={each} />,
            number(each.executed),
            number(each.reused),
            <Failed count={each.failed} />,
            percent(each.hitRate),
            duration(each.durationMs),
            costOrDash(each),
            <code>{each.run}</code>,
          ])}
      />
    </section>
  );
}

function Status({ run: { status } }: { readonly run: RunPoint }) {
  return <span class={`pill ${status}`}>{status}</span>;
}

function numeric(title: string) {
  return { title, isNumber: true };
}

function Failed({ count }: { readonly count: number }) {
  return <span class={count > 0 ? 'bad' : undefined}>{number(count)}</span>;
}

function percent(rate: number | null): string {
  return rate === null ? '–' : `${Math.round(100 * rate)} %`;
}
