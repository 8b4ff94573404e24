/** Heads the page: the name of the run, what became of it in one sentence, and its figures. */
import { duration, money, time } from '../../cli/render/units.js';
import type { Following } from './app.js';
import type { Model } from './model/page-model.js';
import { hitRate, number, openQuestions, sentenceOf } from './model/verdict-words.js';

export function Head({ model: { report, data }, following }: { readonly model: Model; readonly following: Following | undefined }) {
  const { total, workflow, run, started, status } = report;
  const shown = openQuestions(data).length > 0 ? 'waiting' : status;
  const rate = hitRate(total);
  const calls = total.executed + total.reused + total.failed + total.denied + total.notExecuted;
  const missing = total.failed + total.denied + total.notExecuted;
  const figures: readonly (readonly [string, string, string])[] = [
    ['Calls', number(calls), `${number(total.executed)} executed`],
    ['Hit rate', rate === undefined ? '–' : `${rate} %`, `${number(total.reused)} reused`],
    ['Without a result', number(missing), total.retries === 0 ? 'no retries' : `${number(total.retries)} retries`],
    ['Time', duration(report.durationMs), `${duration(total.callsMs)} in calls`],
    ['Cost', total.costUsd === null ? '–' : money(total.costUsd), costWords(total)],
    ['Tokens', tokens(total.inputTokens), total.inputTokens === null ? 'not reported' : `in, ${tokens(total.outputTokens)} out`],
  ];
  return (
    <header class="head">
      <p class="crumbs">
        <span>{workflow}</span>
        <span>{run}</span>
        <time dateTime={started}>{time(Date.parse(started))}</time>
      </p>
      <h1>
        {following ? following.name : report.name}{' '}
        {!following && <span class={`pill ${data.verdict.unresolved > 0 && status === 'completed' ? 'incomplete' : shown}`}>{shown}</span>}
      </h1>
      {following?.actions}
      <p class="sentence">{sentenceOf(data)}</p>
      {calls > 0 && (
        <dl class="figures">
          {figures.map(([term, value, more]) => (
            <div key={term} class={term === 'Without a result' && missing > 0 ? 'bad' : undefined}>
              <dt>{term}</dt>
              <dd>
                <b>{value}</b> <span>{more}</span>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </header>
  );
}

function costWords({ savedUsd, unpriced }: Model['report']['total']): string {
  const words = [...(savedUsd ? [`${money(savedUsd)} saved`] : []), ...(unpriced > 0 ? [`${number(unpriced)} unpriced`] : [])];
  return words.length === 0 ? 'nothing saved' : words.join(', ');
}

/** `1.24M`: a sum that nobody adds up by hand. */
function tokens(count: number | null): string {
  if (count === null) return '–';
  if (count < 10_000) return number(count);
  return count < 999_500 ? `${Math.round(count / 1000)}k` : `${(count / 1e6).toFixed(2)}M`;
}
