/** Lists the calls that took longest. */
import { duration, money } from '../../../cli/render/units.js';
import { slowestCalls } from '../model/call-times.js';
import type { Model } from '../model/page-model.js';
import { hashOfCall } from '../model/route.js';
import { orDash, stateWords } from '../model/verdict-words.js';
import { Table } from '../parts/table.js';

const SHOWN = 10;

export function Slowest({ model }: { readonly model: Model }) {
  const { spans } = model.report;
  const calls = slowestCalls(model, SHOWN);
  if (calls.length === 0) return null;
  return (
    <section class="card" aria-labelledby="title-slowest">
      <h2 id="title-slowest">Slowest calls</h2>
      <Table
        label="Slowest calls"
        columns={[
          { title: 'Call' },
          { title: 'State' },
          { title: 'Time', isNumber: true },
          { title: 'Attempts', isNumber: true },
          { title: 'Cost', isNumber: true },
        ]}
        rows={calls.map((span) => [
          <a class="clip" href={hashOfCall(spans.op[span] ?? '')}>
            <b>{model.titleOf(span)}</b> {model.aboutOf(span)}
          </a>,
          <span class={`state ${model.stateOf(span)}`}>{stateWords(model.stateOf(span))}</span>,
          duration(model.durationOf(span)),
          spans.attempts[span] ?? 0,
          orDash(spans.costUsd[span] ?? null, money),
        ])}
      />
    </section>
  );
}
