/** Shows what functions, models and phases made, and what they cost. */
import { duration, money } from '../../../cli/render/units.js';
import { timesByFunction } from '../model/call-times.js';
import type { Model, ReportData } from '../model/page-model.js';
import { hashOf, NO_FILTER } from '../model/route.js';
import { countsByPhase } from '../model/source-counts.js';
import { hitRate, number, orDash } from '../model/verdict-words.js';
import { Table } from '../parts/table.js';

type Tally = ReportData['total'];

export function Spending({ model }: { readonly model: Model }) {
  const { functions, models, phases, groups, total } = model.report;
  const times = timesByFunction(model);
  const atWorkers = total.atWorkers > 0 ? ['At workers'] : [];
  const isPriced = (total.costUsd ?? 0) > 0;
  const named = models.filter(({ name }) => name !== null);
  return (
    <>
      <section class="card" aria-labelledby="title-functions">
        <h2 id="title-functions">Functions</h2>
        <Table
          label="Functions"
          columns={[
            { title: 'Function' },
            ...[
              'Executed',
              ...atWorkers,
              'Reused',
              'No result',
              'Hit rate',
              'Median',
              '95 % within',
              'Longest',
              'Tokens in',
              'Tokens out',
              'Cost',
            ].map(numeric),
            { title: isPriced ? 'Share of cost' : 'Share of time' },
          ]}
          rows={functions.map((tally) => {
            const measured = times.get(tally.name);
            return [
              <a href={hashOf({ view: 'operations', filter: { ...NO_FILTER, fn: tally.name } })}>@{tally.name}</a>,
              ...executedAndReused(tally, atWorkers.length > 0),
              <Missing tally={tally} />,
              percent(hitRate(tally)),
              measured ? duration(measured.medianMs) : '–',
              measured ? duration(measured.p95Ms) : '–',
              measured ? duration(measured.longestMs) : '–',
              orDash(tally.inputTokens, number),
              orDash(tally.outputTokens, number),
              orDash(tally.costUsd, money),
              <Share part={isPriced ? (tally.costUsd ?? 0) : tally.callsMs} whole={isPriced ? (total.costUsd ?? 0) : total.callsMs} />,
            ];
          })}
        />
      </section>
      <div class="pair">
        {named.length > 0 && (
          <section class="card" aria-labelledby="title-models">
            <h2 id="title-models">Models</h2>
            <Table
              label="Models"
              columns={[
                { title: 'Model' },
                ...['Attempts', 'Tokens in', 'Tokens out', 'Cost'].map(numeric),
                ...(isPriced ? [{ title: 'Share of cost' }] : []),
              ]}
              rows={models.map(({ name, attempts, inputTokens, outputTokens, costUsd }) => [
                name ?? <i>not reported</i>,
                number(attempts),
                orDash(inputTokens, number),
                orDash(outputTokens, number),
                orDash(costUsd, money),
                ...(isPriced ? [<Share part={costUsd ?? 0} whole={total.costUsd ?? 0} />] : []),
              ])}
            />
          </section>
        )}
        {groups.length > 0 && <PhasesOfScript model={model} />}
        {groups.length === 0 && phases.length > 1 && (
          <section class="card" aria-labelledby="title-phases">
            <h2 id="title-phases">Phases</h2>
            <Table
              label="Phases"
              columns={[
                { title: 'Since the checkpoint' },
                ...['Executed', ...atWorkers, 'Reused', 'No result', 'In calls', 'Cost'].map(numeric),
              ]}
              rows={phases.map((tally) => [
                tally.name,
                ...executedAndReused(tally, atWorkers.length > 0),
                <Missing tally={tally} />,
                duration(tally.callsMs),
                orDash(tally.costUsd, money),
              ])}
            />
          </section>
        )}
      </div>
    </>
  );
}

function executedAndReused({ executed, atWorkers, reused }: Tally, hasWorkers: boolean): readonly string[] {
  return [number(executed), ...(hasWorkers ? [number(atWorkers)] : []), number(reused - atWorkers)];
}

/** The phases that a workflow script names; its calls outside of them are in none. */
function PhasesOfScript({ model }: { readonly model: Model }) {
  return (
    <section class="card" aria-labelledby="title-phases">
      <h2 id="title-phases">Phases</h2>
      <Table
        label="Phases"
        columns={[{ title: 'Phase' }, ...['Executed', 'Reused', 'No result', 'In calls', 'Cost'].map(numeric)]}
        rows={countsByPhase(model).map(({ name, executed, reused, failed, ms, costUsd }) => [
          name,
          number(executed),
          number(reused),
          <span class={failed > 0 ? 'bad' : undefined}>{number(failed)}</span>,
          duration(ms),
          orDash(costUsd, money),
        ])}
      />
    </section>
  );
}

function numeric(title: string) {
  return { title, isNumber: true };
}

function Missing({ tally }: { readonly tally: Tally }) {
  const count = tally.failed + tally.denied + tally.notExecuted;
  return <span class={count > 0 ? 'bad' : undefined}>{number(count)}</span>;
}

/** A bar beside a number that says the same. */
function Share({ part, whole }: { readonly part: number; readonly whole: number }) {
  const share = whole === 0 ? 0 : Math.round((100 * part) / whole);
  return (
    <span class="share">
      <span aria-hidden="true" style={{ width: `${share}%` }} />
      <span>{share} %</span>
    </span>
  );
}

function percent(rate: number | undefined): string {
  return rate === undefined ? '–' : `${rate} %`;
}
