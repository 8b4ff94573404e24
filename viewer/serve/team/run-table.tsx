/** Lists runs a page at a time, the latest first. */
import type { RunPage } from '../../../src/api/team/filter-runs.js';
import type { TeamRun } from '../../../src/api/team/team-runs.js';
import { costOrDash, durationOrDash } from '../../../cli/render/units.js';
import { number } from '../../report/model/verdict-words.js';
import { addressOf, addressOfAnyRun, stay } from '../address.js';
import { PAGE_ROWS, type Shown } from './requests.js';

interface RunTableProps {
  readonly page: RunPage;
  readonly onChange: (changed: Partial<Shown>) => void;
}

export function RunTable({ page, onChange }: RunTableProps) {
  const { runs, matching, total, offset } = page;
  return (
    <section class="card" aria-labelledby="title-all">
      <h2 id="title-all">
        Runs <small>the latest first</small>
      </h2>
      {runs.length === 0 ? (
        <p>{total === 0 ? 'No run is recorded yet.' : offset > 0 && matching > 0 ? 'There is no such page.' : 'No run is like that.'}</p>
      ) : (
        <div class="scroll" tabIndex={0} role="group" aria-label="Runs">
          <table class="all-runs">
            <thead>
              <tr>
                <th scope="col">Workflow</th>
                <th scope="col">Status</th>
                <th scope="col">Person</th>
                <th scope="col">Started (UTC)</th>
                <th scope="col" class="number">
                  Time
                </th>
                <th scope="col" class="number">
                  Calls
                </th>
                <th scope="col" class="number">
                  Cost
                </th>
                <th scope="col">Run</th>
              </tr>
            </thead>
            <tbody>
              {runs.map((run) => (
                <Row key={run.run} run={run} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <nav class="row pages" aria-label="Pages of runs">
        <p role="status">{rangeWords(page)}</p>
        {matching > PAGE_ROWS && (
          <>
            <button type="button" disabled={offset === 0} onClick={() => onChange({ offset: Math.max(0, offset - PAGE_ROWS) })}>
              Newer
            </button>
            <button type="button" disabled={offset + PAGE_ROWS >= matching} onClick={() => onChange({ offset: offset + PAGE_ROWS })}>
              Older
            </button>
          </>
        )}
      </nav>
    </section>
  );
}

function Row({ run }: { readonly run: TeamRun }) {
  const { run: id, script, workflow, isPipeline, status, person, started, durationMs, executed, reused, atWorkers, failed, inFlight } = run;
  const address = isPipeline ? addressOf(id) : addressOfAnyRun(id);
  return (
    <tr data-run={id}>
      <td class="name" title={workflow}>
        {status === 'unreadable' ? (
          script
        ) : (
          <a href={address} onClick={(event) => stay(event, address)}>
            {script}
          </a>
        )}
      </td>
      <td>
        <span class={`pill ${status}`}>{status}</span>
      </td>
      <td class="person" data-label="Person">
        {person}
      </td>
      <td class="time" data-label="Started">
        {started.slice(0, 16).replace('T', ' ')}
      </td>
      <td class="number" data-label="Time">
        {durationOrDash(durationMs)}
      </td>
      <td class="number" data-label="Calls">
        {number(executed + reused)}
        {reused > atWorkers && <small class="muted"> {number(reused - atWorkers)} reused</small>}
        {atWorkers > 0 && <small class="muted"> {number(atWorkers)} at workers</small>}
        {failed > 0 && <small class="bad"> {number(failed)} failed</small>}
        {inFlight > 0 && <small class="muted"> {number(inFlight)} in flight</small>}
      </td>
      <td class="number" data-label="Cost">
        {costOrDash(run)}
      </td>
      <td data-label="Run">
        <code>{id}</code>
      </td>
    </tr>
  );
}

function rangeWords({ runs, offset, matching, total }: RunPage): string {
  const all = matching === total ? number(total) : `${number(matching)} that fit, of ${number(total)}`;
  return runs.length === 0 ? `0 of ${all}` : `${number(offset + 1)} to ${number(offset + runs.length)} of ${all}`;
}
