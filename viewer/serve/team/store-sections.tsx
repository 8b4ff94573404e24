/** Shows what only the store of a team knows: who writes now, the calls for workers, and lanes and budgets that runs share. */
import type { ComponentChildren } from 'preact';
import type { StoreActivity } from '../../../src/api/team/store-activity.js';
import { duration, money } from '../../../cli/render/units.js';
import { number } from '../../report/model/verdict-words.js';
import { Table } from '../../report/parts/table.js';

type Budget = StoreActivity['budgets'][number];

export function StoreSections({ store: { writers, lanes, sharedLanes, budgets, damaged } }: { readonly store: StoreActivity }) {
  return (
    <>
      <section class="card" aria-labelledby="title-writers">
        <h2 id="title-writers">
          Working now <small>processes with a run in the store</small>
        </h2>
        {writers.length === 0 ? (
          <p>No process is at work.</p>
        ) : (
          <Table
            label="Working now"
            columns={[
              { title: 'Machine' },
              { title: 'Role' },
              { title: 'Workflow' },
              numeric('Calls'),
              numeric('Heard of'),
              { title: 'Run' },
            ]}
            rows={writers.map(({ host, pid, role, ofRun, workflow, claims, heardMs, run }) => [
              `${host} (process ${pid})`,
              ofRun === null ? role : `${role} of ${ofRun}`,
              workflow,
              number(claims),
              `${duration(heardMs)} ago`,
              <code>{run}</code>,
            ])}
          />
        )}
      </section>
      {lanes.length > 0 && (
        <section class="card" aria-labelledby="title-lanes">
          <h2 id="title-lanes">
            Offered to workers <small>calls that any worker may execute, by lane</small>
          </h2>
          <Table
            label="Offered to workers"
            columns={[{ title: 'Lane' }, numeric('Waiting'), numeric('In work'), numeric('The oldest waits')]}
            rows={lanes.map(({ lane, waiting, claimed, oldestMs }) => [
              lane === '' ? 'no lane' : lane,
              number(waiting),
              number(claimed),
              oldestMs === null ? '-' : duration(oldestMs),
            ])}
          />
        </section>
      )}
      {sharedLanes.length > 0 && (
        <section class="card" aria-labelledby="title-shared-lanes">
          <h2 id="title-shared-lanes">
            Shared lanes <small>attempts in flight that share a rate limit, and who makes them</small>
          </h2>
          <Table
            label="Shared lanes"
            columns={[
              { title: 'Lane' },
              numeric('In flight'),
              numeric('Limit'),
              { title: 'Held by' },
              { title: 'Workflow' },
              numeric('The oldest'),
            ]}
            rows={sharedLanes.flatMap(rowsOfLane)}
          />
        </section>
      )}
      {budgets.length > 0 && (
        <section class="card" aria-labelledby="title-budgets">
          <h2 id="title-budgets">
            Shared budgets <small>spent, and held for attempts in flight</small>
          </h2>
          <Table
            label="Shared budgets"
            columns={[{ title: 'Budget' }, { title: 'Per' }, numeric('Spent'), numeric('Held'), numeric('Total'), numeric('Used')]}
            rows={budgets.map((budget) => [
              budget.name,
              budget.period ?? 'project',
              sum(budget, budget.spent),
              sum(budget, budget.reserved),
              sum(budget, budget.total),
              <Used budget={budget} />,
            ])}
          />
        </section>
      )}
      {damaged.map((line) => (
        <p key={line} class="card message" role="alert">
          {line}
        </p>
      ))}
    </>
  );
}

/** A row for each process with attempts in the lane. */
function rowsOfLane({ lane, limit, heldMs, holders }: StoreActivity['sharedLanes'][number]): readonly (readonly ComponentChildren[])[] {
  const most = limit === null ? '-' : number(limit);
  const state = heldMs === null ? '' : ` (held for ${duration(heldMs)})`;
  if (holders.length === 0) return [[`${lane}${state}`, '0', most, 'nobody', '-', '-']];
  return holders.map(({ host, pid, role, workflow, attempts, oldestMs }) => [
    `${lane}${state}`,
    number(attempts),
    most,
    `${host} (${role === 'run' ? '' : `${role}, `}process ${pid})`,
    workflow,
    duration(oldestMs),
  ]);
}

function Used({ budget: { spent, reserved, total } }: { readonly budget: Budget }) {
  const part = total > 0 ? (spent + reserved) / total : 1;
  return (
    <span class={part > 1 ? 'bad' : undefined}>
      <meter min={0} max={1} high={0.9} optimum={0} value={Math.min(1, part)} aria-label="used" /> {Math.round(100 * part)} %
    </span>
  );
}

function sum({ unit }: Budget, amount: number): string {
  return unit === 'usd' ? money(amount) : `${number(amount)} ${unit}`;
}

function numeric(title: string) {
  return { title, isNumber: true };
}
