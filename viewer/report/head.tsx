/** Heads the page: the name of the run, what became of it in one sentence, what it is a fork of, and its figures. */
import { duration, money, time } from '../../cli/render/units.js';
import type { Following } from './app.js';
import { changedLines } from './model/side-by-side.js';
import type { Model, PageData } from './model/page-model.js';
import { callsOfRun, hitRate, isIncomplete, number, openQuestions, sentenceOf } from './model/verdict-words.js';
import { Figures, type Figure } from './parts/figures.js';

interface HeadProps {
  readonly model: Model;
  readonly following: Following | undefined;
  /** On a narrow screen the figures are on the first view only. */
  readonly isFirstView: boolean;
}

export function Head({ model: { report, data }, following, isFirstView }: HeadProps) {
  const { total, workflow, run, started, status } = report;
  const shown = openQuestions(data).length > 0 ? 'waiting' : status;
  const calls = callsOfRun(data);
  const rate = hitRate(total);
  const missing = calls.withoutResult;
  const figures: readonly Figure[] = [
    { term: 'Calls', value: number(calls.all), more: callWords(calls, status === 'running') },
    { term: 'Hit rate', value: rate === undefined ? '–' : `${rate} %`, more: `${number(calls.reused)} reused` },
    {
      term: 'Without a result',
      value: number(missing),
      more: total.retries === 0 ? 'no retries' : `${number(total.retries)} retries`,
      mark: missing > 0 ? 'bad' : undefined,
    },
    { term: 'Time', value: duration(report.durationMs), more: `${duration(total.callsMs)} in calls` },
    { term: 'Cost', value: total.costUsd === null ? '–' : money(total.costUsd), more: costWords(total) },
    {
      term: 'Tokens',
      value: tokens(total.inputTokens),
      more: total.inputTokens === null ? 'not reported' : `in, ${tokens(total.outputTokens)} out`,
    },
  ];
  return (
    <header class={isFirstView ? 'head' : 'head brief'}>
      <p class="crumbs">
        <span>{workflow}</span>
        <span>{run}</span>
        <time dateTime={started}>{time(Date.parse(started))}</time>
      </p>
      <h1>
        {following ? following.name : report.name}{' '}
        {!following && <span class={`pill ${isIncomplete(data.verdict) ? 'incomplete' : shown}`}>{shown}</span>}
      </h1>
      {following?.actions}
      <p class="sentence">{sentenceOf(data)}</p>
      {data.forkSources.map((source) => (
        <p key={`${source.workflow} ${source.run}`} class="fork">
          Fork of <b>{source.workflow}</b>
          {source.run !== null && (
            <>
              , run <code>{source.run}</code>
            </>
          )}
          : {forkWords(source)}
        </p>
      ))}
      {calls.all > 0 && <Figures figures={figures} />}
    </header>
  );
}

function callWords({ executed, atWorkers, unfinished }: ReturnType<typeof callsOfRun>, isRunning: boolean): string {
  return [
    `${number(executed)} executed`,
    ...(atWorkers > 0 ? [`${number(atWorkers)} at workers`] : []),
    ...(unfinished > 0 ? [`${number(unfinished)} ${isRunning ? 'in flight' : 'unfinished'}`] : []),
  ].join(', ');
}

/** `2 of its results are reused. The scripts differ in 3 lines.` */
function forkWords({ reused, runs, script }: PageData['forkSources'][number]): string {
  const several = runs > 1 ? ` of ${number(runs)} runs` : '';
  const results = `${reused === 0 ? 'none' : number(reused)} of its results${several} ${reused === 1 ? 'is' : 'are'} reused.`;
  const changed = changedLines(script);
  if (changed === undefined) return results;
  return `${results} ${changed === 0 ? 'The scripts are the same.' : `The scripts differ in ${number(changed)} ${changed === 1 ? 'line' : 'lines'}.`}`;
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
