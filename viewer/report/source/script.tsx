/** Shows the sources of the run with the counts of their calls beside the lines. */
import { useMemo, useState } from 'preact/hooks';
import { duration, money } from '../../../cli/render/units.js';
import type { Model } from '../model/page-model.js';
import { hashOf, NO_FILTER } from '../model/route.js';
import { countsByLine, type CallCounts } from '../model/source-counts.js';
import { number } from '../model/verdict-words.js';
import { CopyButton } from '../parts/copy-button.js';

export function Script({ model }: { readonly model: Model }) {
  const { sources } = model.data;
  const [chosen, choose] = useState(0);
  const source = sources[chosen] ?? sources[0];
  const counts = useMemo(() => countsByLine(model, chosen), [model, chosen]);
  if (!source) return null;
  const lines = source.text?.text.split('\n') ?? [];
  return (
    <section class="card script" aria-labelledby="title-script">
      <div class="row">
        <h2 id="title-script">Script</h2>
        {sources.length > 1 && (
          <label class="inline">
            <span>File</span>
            <select value={chosen} onChange={(event) => choose(Number(event.currentTarget.value))}>
              {sources.map(({ path, role }, place) => (
                <option key={path} value={place}>
                  {path} ({role})
                </option>
              ))}
            </select>
          </label>
        )}
        <CopyButton text={() => source.text?.text ?? ''} of="the text" />
      </div>
      <p class="muted">
        <code>{source.path}</code>, as the run read it.
      </p>
      {source.text === null ? (
        <p class="muted">The journal does not have its text any more.</p>
      ) : (
        <div class="scroll code" tabIndex={0} role="group" aria-label={`Text of ${source.path}`}>
          <table>
            <thead class="hidden">
              <tr>
                <th scope="col">Calls</th>
                <th scope="col">Line</th>
                <th scope="col">Text</th>
              </tr>
            </thead>
            <tbody>
              {lines.map((line, place) => {
                const count = counts.get(place + 1);
                return (
                  <tr key={place} class={count ? (count.failed > 0 ? 'has bad' : 'has') : undefined}>
                    <td class="counts">{count && <Counts counts={count} model={model} source={chosen} line={place + 1} />}</td>
                    <td class="number muted">{place + 1}</td>
                    <td>
                      <code>{line}</code>
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

interface CountsProps {
  readonly counts: CallCounts;
  readonly model: Model;
  readonly source: number;
  readonly line: number;
}

function Counts({ counts: { executed, atWorkers, reused, failed, unfinished, ms, costUsd }, model, source, line }: CountsProps) {
  const all = executed + atWorkers + reused + failed + unfinished;
  const first = model.calls.find((span) => {
    const place = model.data.places[model.report.spans.site[span] ?? -1];
    return place?.[0] === source && place[1] === line;
  });
  const words = [
    `${number(all)}×`,
    ...(atWorkers > 0 ? [`${number(atWorkers)} at workers`] : []),
    ...(reused > 0 ? [`${number(reused)} reused`] : []),
    ...(failed > 0 ? [`${number(failed)} without a result`] : []),
    ...(unfinished > 0 ? [`${number(unfinished)} unfinished`] : []),
    `${duration(ms / Math.max(1, all - reused - atWorkers))} each`,
    ...(costUsd === null ? [] : [money(costUsd)]),
  ];
  return (
    <a href={hashOf({ view: 'operations', filter: { ...NO_FILTER, fn: first === undefined ? '' : model.fnOf(first) } })}>
      {words.join(' · ')}
    </a>
  );
}
