/** Says in one sentence what became of a run. */
import { duration, money } from '../../../cli/render/units.js';
import type { PageData } from './page-model.js';

/** The reused among all calls that have a result, in percent; undefined where there is none. */
export function hitRate({ executed, reused }: { readonly executed: number; readonly reused: number }): number | undefined {
  return executed + reused === 0 ? undefined : Math.round((100 * reused) / (executed + reused));
}

const ENDINGS: { readonly [status: string]: string } = {
  completed: 'Completed',
  failed: 'Failed',
  interrupted: 'Interrupted',
  'timed-out': 'Timed out',
  paused: 'Paused',
  restarted: 'Continued as another run',
  running: 'Still running',
  crashed: 'The process was killed',
};

/** `Completed after 12m04s: 1,980 of 2,000 calls have a result, 660 of them reused; 20 failed. It cost $12.40, and reuse saved $3.10.` */
export function sentenceOf(data: PageData): string {
  const { report, verdict } = data;
  const { total, durationMs, status } = report;
  const ending = `${ENDINGS[status] ?? status} after ${duration(durationMs)}`;
  return `${ending}: ${callWords(report)}.${costWords(total)}${waitingWords(data)}${laterWords(verdict)}`;
}

/** Returns what people are asked now; a run that has ended takes no answers. */
export function openQuestions({ report, verdict }: PageData): NonNullable<PageData['verdict']['pipeline']>['questions'] {
  return report.status === 'running' ? (verdict.pipeline?.questions ?? []) : [];
}

function callWords({ total }: PageData['report']): string {
  const { executed, reused, failed, denied, notExecuted, accepted } = total;
  const all = executed + reused + failed + denied + notExecuted;
  if (all === 0) return 'no call was made';
  const missing = [
    counted(failed - accepted, 'failed'),
    counted(accepted, 'failed and accepted by the script', 'failed and accepted by the script'),
    counted(denied, 'denied'),
    counted(notExecuted, 'not executed'),
  ].filter((words) => words !== '');
  const has = executed + reused;
  const results =
    has === all
      ? all === 1
        ? 'its one call has a result'
        : `all ${number(all)} calls have a result`
      : `${number(has)} of ${number(all)} calls ${has === 1 ? 'has' : 'have'} a result`;
  const hits = reused === 0 ? '' : reused === has ? ', all of them reused' : `, ${number(reused)} of them reused`;
  return `${results}${hits}${missing.length === 0 ? '' : `; ${missing.join(', ')}`}`;
}

function costWords({ attempts, costUsd, unpriced, savedUsd }: PageData['report']['total']): string {
  const saved = savedUsd === null || savedUsd === 0 ? '' : `reuse saved ${money(savedUsd)}`;
  const cost =
    attempts === 0
      ? 'It cost nothing'
      : costUsd === null
        ? 'No call reported its cost'
        : `It cost ${money(costUsd)}${unpriced === 0 ? '' : ` and ${number(unpriced)} attempts of unknown cost`}`;
  return ` ${cost}${saved === '' ? '' : `, and ${saved}`}.`;
}

/** The label of the question may be a sentence of its own, hence the quotes. */
function waitingWords(data: PageData): string {
  const questions = openQuestions(data);
  return (
    questions.map(({ id, node, text }) => ` ${node} waits for a person to answer ${id}: “${text}”`).join('.') +
    (questions.length === 0 ? '' : '.')
  );
}

function laterWords({ since }: PageData['verdict']): string {
  if (since === null) return '';
  return since.status === 'completed' ? ` Run ${since.run} has completed it since.` : ` Run ${since.run} came after it.`;
}

function counted(count: number, words: string, several = words): string {
  return count === 0 ? '' : `${number(count)} ${count === 1 ? words : several}`;
}

export function number(count: number): string {
  return count.toLocaleString('en');
}
