/** Shows the figures at the top: what runs now, what waits, and what it cost. */
import type { RunPage } from '../../../src/api/team/filter-runs.js';
import { moneyOrDash } from '../../../cli/render/units.js';
import { Figures, type Figure } from '../../report/parts/figures.js';
import { number } from '../../report/model/verdict-words.js';
import type { Overview } from './requests.js';

interface FiguresProps {
  readonly page: RunPage | undefined;
  readonly overview: Overview;
  readonly days: string;
}

export function TeamFigures({ page, overview: { costs, questions }, days }: FiguresProps) {
  const { total, days: byDay } = costs;
  const today = byDay.find(({ day }) => day === new Date().toISOString().slice(0, 10));
  const running = (page?.statuses['running'] ?? 0) + (page?.statuses['waiting'] ?? 0);
  const period = days === '1' ? 'today' : `in ${days} days`;
  const figures: readonly Figure[] = [
    { term: 'Running', value: number(running), more: running === 1 ? 'run now' : 'runs now' },
    {
      term: 'Waiting',
      value: number(questions.length),
      more: questions.length === 1 ? 'question to a person' : 'questions to people',
      mark: questions.length > 0 ? 'urgent' : undefined,
    },
    { term: 'Runs', value: number(total.runs), more: period },
    {
      term: 'Calls',
      value: number(total.executed + total.reused),
      more: `${number(total.executed)} executed, ${number(total.reused)} reused`,
    },
    { term: 'Cost today', value: moneyOrDash(today?.costUsd ?? null), more: 'since midnight UTC' },
    { term: 'Cost', value: moneyOrDash(total.costUsd), more: costWords(total, period) },
  ];
  return <Figures figures={figures} />;
}

function costWords({ savedUsd, unpriced }: Overview['costs']['total'], period: string): string {
  return [
    period,
    ...(savedUsd ? [`${moneyOrDash(savedUsd)} saved`] : []),
    ...(unpriced ? [`${number(unpriced)} attempts of unknown cost`] : []),
  ].join('; ');
}
