/** Shows which workers of a team executed calls of the run, and what was paid for results that are not used. */
import { money } from '../../../cli/render/units.js';
import type { Model } from '../model/page-model.js';
import { number, orDash } from '../model/verdict-words.js';
import { Table } from '../parts/table.js';

export function Workers({ model }: { readonly model: Model }) {
  const { workers, superseded } = model.data.verdict.team;
  if (workers.length === 0 && superseded.calls === 0) return null;
  return (
    <section class="card" aria-labelledby="title-workers">
      <h2 id="title-workers">
        Workers <small>processes that executed calls for this run</small>
      </h2>
      {workers.length > 0 && (
        <Table
          label="Workers"
          columns={[
            { title: 'Worker' },
            { title: 'Machine' },
            { title: 'Executed', isNumber: true },
            { title: 'Failed', isNumber: true },
            { title: 'Cost', isNumber: true },
          ]}
          rows={workers.map(({ name, host, executed, failed, costUsd }) => [
            name,
            host ?? '–',
            number(executed),
            <span class={failed > 0 ? 'bad' : undefined}>{number(failed)}</span>,
            orDash(costUsd, money),
          ])}
        />
      )}
      {workers.length > 0 && <p class="muted">The run of a worker has the attempts, and counts their cost.</p>}
      {superseded.calls > 0 && (
        <p>
          {number(superseded.calls)} {superseded.calls === 1 ? 'result was' : 'results were'} paid for in vain
          {superseded.costUsd !== null && ` (${money(superseded.costUsd)})`}: the result of another run for the same call was recorded
          first, and is used.
        </p>
      )}
    </section>
  );
}
