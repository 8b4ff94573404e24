/** Shows what the runs cost: by day, by person, by workflow, by function. */
import type { AddedCounts } from '../../../replay/reports/team/run-figures.js';
import { costOrDash, money } from '../../../cli/render/units.js';
import { number } from '../../report/model/verdict-words.js';
import { Table } from '../../report/parts/table.js';
import type { Costs, Shown } from './requests.js';

const DAY_MS = 24 * 3_600_000;
const HEIGHT = 60;
const STEP = 10;
const BAR = 8;
/** A cost that is not nothing is seen. */
const LEAST = 1.5;
/** Tables show the most expensive; the rest is one row. */
const ROWS_MAX = 12;

interface CostProps {
  readonly costs: Costs;
  readonly days: number;
  readonly onChange: (changed: Partial<Shown>) => void;
}

export function CostSections({ costs, days, onChange }: CostProps) {
  const { total, people, workflows, functions, pending } = costs;
  return (
    <>
      <section class="card" aria-labelledby="title-days">
        <h2 id="title-days">
          Cost by day <small>of the runs that began then, UTC</small>
        </h2>
        <Days costs={costs} days={days} />
      </section>
      <div class="pair">
        <Sums
          title="By person"
          rows={people.map((each) => ({ ...each, key: each.person, name: each.person === '' ? 'not recorded' : each.person }))}
          total={total}
          onChoose={(person) => onChange({ person })}
        />
        <Sums
          title="By workflow"
          rows={workflows.map((each) => ({ ...each, key: each.workflow, name: each.script, about: each.workflow }))}
          total={total}
          onChoose={(workflow) => onChange({ workflow })}
        />
      </div>
      <Sums
        title="By function"
        note={pending > 0 ? `${number(pending)} ${pending === 1 ? 'run is' : 'runs are'} still being counted` : undefined}
        rows={functions.map((each) => ({ ...each, key: each.fn, name: each.fn === '' ? 'not recorded' : `@${each.fn}` }))}
        total={total}
      />
    </>
  );
}

function Days({ costs, days }: { readonly costs: Costs; readonly days: number }) {
  const known = new Map(costs.days.map((each) => [each.day, each]));
  const first = Date.parse(costs.since);
  const all = Array.from({ length: days }, (_, index) => new Date(first + index * DAY_MS).toISOString().slice(0, 10));
  const top = Math.max(0, ...costs.days.map(({ costUsd }) => costUsd ?? 0));
  const priciest = costs.days.toSorted((one, other) => (other.costUsd ?? 0) - (one.costUsd ?? 0))[0];
  const words = top === 0 || !priciest ? 'Nothing was priced.' : `The most on ${priciest.day}: ${money(top)}, ${runsWords(priciest.runs)}.`;
  return (
    <figure class="metric days">
      <svg viewBox={`0 0 ${days * STEP} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`Cost by day. ${words}`}>
        {all.map((day, place) => {
          const figures = known.get(day);
          const cost = figures?.costUsd ?? 0;
          const height = cost === 0 ? 0 : Math.max(LEAST, (cost / top) * HEIGHT);
          return (
            <g key={day}>
              <rect class="ground" x={place * STEP} y={0} width={STEP} height={HEIGHT}>
                <title>{figures ? `${day}: ${costOrDash(figures)}, ${runsWords(figures.runs)}` : `${day}: no run`}</title>
              </rect>
              <rect class="bar" x={place * STEP + (STEP - BAR) / 2} y={HEIGHT - height} width={BAR} height={height} />
            </g>
          );
        })}
      </svg>
      <p class="axis muted" aria-hidden="true">
        <span>{all[0]}</span>
        {days > 1 && <span>{all.at(-1)}</span>}
      </p>
      <figcaption class="muted">{words}</figcaption>
    </figure>
  );
}

function runsWords(count: number): string {
  return `${number(count)} ${count === 1 ? 'run' : 'runs'}`;
}

interface SumRow extends Omit<AddedCounts, 'atWorkers'> {
  readonly key: string;
  readonly name: string;
  readonly about?: string;
  readonly runs: number;
}

interface SumsProps {
  readonly title: string;
  readonly note?: string | undefined;
  readonly rows: readonly SumRow[];
  readonly total: { readonly costUsd: number | null };
  readonly onChoose?: (key: string) => void;
}

function Sums({ title, note, rows, total, onChoose }: SumsProps) {
  if (rows.length === 0 && note === undefined) return null;
  const shown = rows.slice(0, ROWS_MAX);
  const id = `title-${title.toLowerCase().replace(' ', '-')}`;
  return (
    <section class="card sums" aria-labelledby={id}>
      <h2 id={id}>
        {title} {note !== undefined && <small role="status">{note}</small>}
      </h2>
      <Table
        label={title}
        columns={[
          { title: title.replace('By ', '').replace(/^./, (letter) => letter.toUpperCase()) },
          ...['Cost', 'Runs', 'Executed', 'Reused'].map(numeric),
        ]}
        rows={shown.map((row) => [
          onChoose && row.key !== '' ? (
            <button type="button" class="link" title={row.about} onClick={() => onChoose(row.key)}>
              {row.name}
            </button>
          ) : (
            <code>{row.name}</code>
          ),
          <Share row={row} of={total.costUsd} />,
          number(row.runs),
          number(row.executed),
          number(row.reused),
        ])}
      />
      {rows.length > ROWS_MAX && <p class="muted">{`and ${number(rows.length - ROWS_MAX)} more that cost less`}</p>}
    </section>
  );
}

function Share({ row, of }: { readonly row: SumRow; readonly of: number | null }) {
  const share = row.costUsd !== null && of ? row.costUsd / of : 0;
  return (
    <>
      {share > 0 && <meter min={0} max={1} value={share} aria-label={`${Math.round(100 * share)} % of the cost`} />} {costOrDash(row)}
    </>
  );
}

function numeric(title: string) {
  return { title, isNumber: true };
}
