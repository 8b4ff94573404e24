/** Shows the figures at the top: what runs now, what waits, and what it cost. */
import type { RunPage } from '../../../src/api/team/filter-runs.js';
import { moneyOrDash } from '../../../cli/render/units.js';
import { number } from '../../report/model/verdict-words.js';
import type { Overview } from './requests.js';

interface FiguresProps {
  readonly page: RunPage | undefined;
  readonly overview: Overview;
  readonly days: string;
}

export function Figures({ page, overview: { costs, questions }, days }: FiguresProps) {
  const { total, days: byDay } = costs;
  const today = byDay.find(({ day }) => day === new Date().toISOString().slice(0, 10));
  const running = (page?.statuses['running'] ?? 0) + (page?.statuses['waiting'] ?? 0);
  const period = days === '1' ? 'today' : `in ${days} days`;
  const figures: readonly (readonly [string, string, string, boolean?])[] = [
    ['Running', number(running), running === 1 ? 'run now' : 'runs now'],
    ['Waiting', number(questions.length), questions.length === 1 ? 'question to a person' : 'questions to people', questions.length > 0],
    ['Runs', number(total.runs), period],
    ['Calls', number(total.executed + total.reused), `${number(total.executed)} executed, ${number(total.reused)} reused`],
    ['Cost today', moneyOrDash(today?.costUsd ?? null), 'since midnight UTC'],
    ['Cost', moneyOrDash(total.costUsd), costWords(total, period)],
  ];
  return (
    <dl class="figures">
      {figures.map(([term, value, more, isUrgent]) => (
        <div key={term} class={isUrgent ? 'urgent' : undefined}>
          <dt>{term}</dt>
          <dd>
            <b>{value}</b> <span>{more}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function costWords({ savedUsd, unpriced }: Overview['costs']['total'], period: string): string {
  return [
    period,
    ...(savedUsd ? [`${moneyOrDash(savedUsd)} saved`] : []),
    ...(unpriced ? [`${number(unpriced)} attempts of unknown cost`] : []),
  ].join('; ');
}
