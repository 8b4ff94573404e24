/** Shows this run beside another one: both in numbers, then what changed, call by call. */
import { CAUSES } from '../../../cli/render/causes.js';
import { duration, money } from '../../../cli/render/units.js';
import type { Model, RunDiff } from '../model/page-model.js';
import { hashOfCall } from '../model/route.js';
import { number, orDash } from '../model/verdict-words.js';
import { DifferingTexts } from '../parts/differing-texts.js';
import { Table } from '../parts/table.js';

type Side = RunDiff['left'];
type Call = RunDiff['calls']['onlyLeft'][number];
type Pair = RunDiff['calls']['changed'][number];

const SHOWN = 300;

export function Compare({ model }: { readonly model: Model }) {
  const { diff } = model;
  if (!diff) return null;
  const { left, right, calls, sources, output, files } = diff;
  return (
    <>
      <section class="card" aria-labelledby="title-compare">
        <h2 id="title-compare">Compared with {left.run}</h2>
        <p class="sentence">{wordsOf(diff)}</p>
        <Table
          label="Both runs in numbers"
          columns={[{ title: 'Figure' }, { title: OTHER, isNumber: true }, { title: THIS, isNumber: true }]}
          rows={rowsOf(left, right)}
        />
      </section>
      {calls.changed.length > 0 && (
        <section class="card" aria-labelledby="title-changed">
          <h2 id="title-changed">
            Changed calls <small>{number(calls.changed.length)}</small>
          </h2>
          {calls.changed.slice(0, SHOWN).map((pair) => (
            <Changed key={pair.right.op} pair={pair} model={model} names={[OTHER, THIS]} />
          ))}
          {calls.changed.length > SHOWN && <p class="muted">and {number(calls.changed.length - SHOWN)} more</p>}
        </section>
      )}
      <Only title="Only in the other run" calls={calls.onlyLeft} model={undefined} />
      <Only title="Only in this run" calls={calls.onlyRight} model={model} />
      {(sources.length > 0 || !output.same || files.length > 0) && (
        <section class="card" aria-labelledby="title-texts">
          <h2 id="title-texts">Sources, output and files</h2>
          {sources.map(({ path, leftPath, lines }) => (
            <DifferingTexts
              key={path}
              title={`Source ${leftPath === undefined ? '' : `${leftPath}, then `}${path}`}
              lines={lines}
              names={[OTHER, THIS]}
            />
          ))}
          {!output.same && <DifferingTexts title="Output" lines={output.lines} names={[OTHER, THIS]} />}
          {files.length > 0 && (
            <ul class="plain">
              {files.map(({ path }) => (
                <li key={path}>
                  <code>{path}</code> differs
                </li>
              ))}
            </ul>
          )}
        </section>
      )}
    </>
  );
}

/** Ids of runs are too wide for two columns of a phone; the title of the page and of the comparison have them. */
const [OTHER, THIS] = ['Other run', 'This run'] as const;

function wordsOf({ same, calls }: RunDiff): string {
  if (same) return 'Both runs are the same, but for times and costs.';
  const parts = [
    `${number(calls.same)} calls are the same${calls.moved > 0 ? `, ${number(calls.moved)} of them at another place` : ''}`,
    `${number(calls.changed.length)} changed`,
    ...(calls.onlyLeft.length > 0 ? [`${number(calls.onlyLeft.length)} are only in the other run`] : []),
    ...(calls.onlyRight.length > 0 ? [`${number(calls.onlyRight.length)} only in this one`] : []),
  ];
  return `${parts.join('; ')}.`;
}

function rowsOf(left: Side, right: Side): readonly (readonly string[])[] {
  const row = (title: string, of: (side: Side) => string): readonly string[] => [title, of(left), of(right)];
  return [
    row('Status', ({ status }) => status),
    row('Calls', ({ calls }) => number(calls)),
    row('Executed', ({ executed }) => number(executed)),
    row('Reused', ({ reused }) => number(reused)),
    row('Failed', ({ failed }) => number(failed)),
    row('Time', ({ durationMs }) => duration(durationMs)),
    row('Time in calls', ({ callsMs }) => duration(callsMs)),
    row('Cost', ({ costUsd }) => orDash(costUsd, money)),
  ];
}

function Changed({ pair, model, names }: { readonly pair: Pair; readonly model: Model; readonly names: readonly [string, string] }) {
  const { left, right, changes } = pair;
  const isHere = model.spanAt(right.op) !== undefined;
  return (
    <details class="difference">
      <summary>
        <b>@{right.fn}</b> {right.preview ?? ''} <span class="pill">{changes.join(', ')}</span>
      </summary>
      <p class="muted">
        {left.outcome}
        {left.class !== null && ` (${CAUSES[left.class]})`} → {right.outcome}
        {right.class !== null && ` (${CAUSES[right.class]})`} {isHere && <a href={hashOfCall(right.op)}>look at the call</a>}
      </p>
      {pair.arguments?.map(({ number: place, lines }) => (
        <DifferingTexts key={place} title={`Argument ${place}`} lines={lines} names={names} />
      ))}
      {pair.result && <DifferingTexts title="Result" lines={pair.result} names={names} />}
    </details>
  );
}

function Only({ title, calls, model }: { readonly title: string; readonly calls: readonly Call[]; readonly model: Model | undefined }) {
  if (calls.length === 0) return null;
  const id = `title-${title}`.replaceAll(/\W/g, '-');
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>
        {title} <small>{number(calls.length)}</small>
      </h2>
      <Table
        label={title}
        columns={[{ title: 'Call' }, { title: 'Outcome' }, { title: 'Path' }]}
        rows={calls.slice(0, SHOWN).map(({ fn, preview, op, outcome }) => [
          <span class="clip">
            <b>@{fn}</b> {preview ?? ''}
          </span>,
          outcome,
          model?.spanAt(op) === undefined ? <code>{op}</code> : <a href={hashOfCall(op)}>{op}</a>,
        ])}
      />
      {calls.length > SHOWN && <p class="muted">and {number(calls.length - SHOWN)} more</p>}
    </section>
  );
}
