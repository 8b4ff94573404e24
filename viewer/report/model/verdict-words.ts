/** Says in one sentence what became of a run. */
import { duration, money } from '../../../cli/render/units.js';
import type { PageData, SpanState } from './page-model.js';

/** The reused among all calls that have a result, in percent; undefined where there is none. Those at workers were executed. */
export function hitRate({
  executed,
  reused,
  atWorkers,
}: Pick<PageData['report']['total'], 'executed' | 'reused' | 'atWorkers'>): number | undefined {
  return executed + reused === 0 ? undefined : Math.round((100 * (reused - atWorkers)) / (executed + reused));
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

/** Counts the calls of a run by kind; workers executed some of those that its journal has as reused. */
export interface RunCalls {
  readonly all: number;
  readonly executed: number;
  readonly atWorkers: number;
  readonly reused: number;
  /** Ended without one. */
  readonly withoutResult: number;
  readonly unfinished: number;
}

export function callsOfRun({ report: { total, unfinished } }: Pick<PageData, 'report'>): RunCalls {
  const { executed, reused, atWorkers, failed, denied, notExecuted } = total;
  const withoutResult = failed + denied + notExecuted;
  const all = executed + reused + withoutResult + unfinished;
  return { all, executed, atWorkers, reused: reused - atWorkers, withoutResult, unfinished };
}

/** `Completed after 12m04s: 1,980 of 2,000 calls have a result, 660 of them reused; 20 failed. It cost $12.40, and reuse saved $3.10.` */
export function sentenceOf(data: PageData): string {
  const { report, verdict } = data;
  const { total, durationMs, status } = report;
  // Nothing happens while a person is waited for, and so nothing brings the page up to date.
  const ending = openQuestions(data).length > 0 ? 'Waiting for a person' : `${ENDINGS[status] ?? status} after ${duration(durationMs)}`;
  const words = `${callWords(data)}.${beforeWords(verdict)}${costWords(total, data.verdict.team)}`;
  return `${ending}: ${words}${waitingWords(data)}${laterWords(verdict)}`;
}

/** True for a run that reached its end although calls of it, or of the earlier runs that it builds on, have no result. */
export function isIncomplete({ status, unresolved, unresolvedBefore }: PageData['verdict']): boolean {
  return status === 'completed' && unresolved + unresolvedBefore > 0;
}

function beforeWords({ unresolvedBefore: count }: PageData['verdict']): string {
  if (count === 0) return '';
  return ` ${count === 1 ? '1 call' : `${number(count)} calls`} of earlier runs that it builds on ${count === 1 ? 'has' : 'have'} no result.`;
}

/** Names the failures of a run as a whole. A branch of the script or an edge of the pipeline may have dealt with them. */
export function troubleOf(verdict: PageData['verdict']): Trouble {
  const { status, error, hookErrors } = verdict;
  if (status === 'interrupted') return { title: 'Stopped before its end', isCalm: true };
  const isHandled = status === 'completed' && !isIncomplete(verdict) && error === undefined && hookErrors.length === 0;
  return isHandled ? { title: 'Failures that the run dealt with', isCalm: true } : { title: 'What went wrong', isCalm: false };
}

export interface Trouble {
  readonly title: string;
  /** Nobody has to mend anything because of it. */
  readonly isCalm: boolean;
}

/** Returns what people are asked now; a run that has ended takes no answers. */
export function openQuestions({ report, verdict }: PageData): NonNullable<PageData['verdict']['pipeline']>['questions'] {
  return report.status === 'running' ? (verdict.pipeline?.questions ?? []) : [];
}

function callWords(data: PageData): string {
  const { failed, denied, notExecuted, accepted } = data.report.total;
  const { all, executed, atWorkers, reused, unfinished } = callsOfRun(data);
  if (all === 0) return 'no call was made';
  const missing = [
    counted(failed - accepted, 'failed'),
    counted(accepted, 'failed and accepted by the script', 'failed and accepted by the script'),
    counted(denied, 'denied'),
    counted(notExecuted, 'not executed'),
    counted(unfinished, data.report.status === 'running' ? 'in flight' : 'unfinished'),
  ].filter((words) => words !== '');
  const has = executed + atWorkers + reused;
  const results =
    has === all
      ? all === 1
        ? 'its one call has a result'
        : `all ${number(all)} calls have a result`
      : `${number(has)} of ${number(all)} calls ${has === 1 ? 'has' : 'have'} a result`;
  const hits = reused === 0 ? '' : reused === has ? ', all of them reused' : `, ${number(reused)} of them reused`;
  const served = atWorkers === 0 ? '' : `, ${number(atWorkers)} ${reused === 0 ? 'of them ' : ''}executed by workers`;
  return `${results}${hits}${served}${missing.length === 0 ? '' : `; ${missing.join(', ')}`}`;
}

function costWords(
  { attempts, costUsd, unpriced, savedUsd }: PageData['report']['total'],
  { workers }: PageData['verdict']['team'],
): string {
  const paid = workers.map((worker) => worker.costUsd ?? 0).reduce((sum, each) => sum + each, 0);
  const elsewhere = paid === 0 ? '' : `, and ${money(paid)} at workers`;
  const saved = savedUsd === null || savedUsd === 0 ? '' : `reuse saved ${money(savedUsd)}`;
  const cost =
    attempts === 0
      ? 'It cost nothing'
      : costUsd === null
        ? 'No call reported its cost'
        : `It cost ${money(costUsd)}${unpriced === 0 ? '' : `, plus ${number(unpriced)} ${unpriced === 1 ? 'attempt' : 'attempts'} of unknown cost`}`;
  return ` ${cost}${elsewhere}${saved === '' ? '' : `, and ${saved}`}.`;
}

/** The label of the question may be a sentence of its own, hence the quotes. */
function waitingWords(data: PageData): string {
  const questions = openQuestions(data);
  return questions
    .map(({ id, node, text }) => ` The node ${node} waits for a person to answer ${id}: “${text}”${/[.?!]$/.test(text) ? '' : '.'}`)
    .join('');
}

function laterWords({ since }: PageData['verdict']): string {
  if (since === null) return '';
  return since.status === 'completed' ? ` Run ${since.run} has completed it since.` : ` Run ${since.run} came after it.`;
}

function counted(count: number, words: string, several = words): string {
  return count === 0 ? '' : `${number(count)} ${count === 1 ? words : several}`;
}

/** `not executed`, `executed at a worker`. */
export function stateWords(state: SpanState): string {
  return state === 'at-worker' ? 'executed at a worker' : state.replace('-', ' ');
}

/** A dash stands for what is not known. */
export function orDash(value: number | null, worded: (value: number) => string): string {
  return value === null ? '–' : worded(value);
}

export function number(count: number): string {
  return count.toLocaleString('en');
}
