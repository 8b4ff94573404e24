/** Says which workers executed calls of a run, and which results were paid for in vain. */
import { atHost } from '../../src/api/commands/words.js';
import type { TeamReport } from '../../replay/reports/team/team-calls.js';
import type { TeamRecord, UnendedCall } from '../../replay/reports/team/unended-at-workers.js';
import { clip, oneLine } from './one-line.js';
import { counted } from './reports/garbage-collection.js';
import { money } from './units.js';

const WORKERS_SHOWN = 10;
const UNENDED_SHOWN = 5;
const PREVIEW_UNITS_MAX = 60;

export function teamLines({ workers, superseded, unended }: TeamRecord): readonly string[] {
  const shares = workers.slice(0, WORKERS_SHOWN).map(({ name, host, executed, failed, costUsd, failedUsd }) => {
    const failures = failed === 0 ? '' : ` and ${failed} failed${priceOf(failedUsd)}`;
    return `${oneLine(atHost(name, host ?? undefined))} ${executed}${priceOf(costUsd)}${failures}`;
  });
  const more = workers.length - shares.length;
  const total = workers.reduce((sum, { executed, failed }) => sum + executed + failed, 0);
  return [
    ...(workers.length === 0
      ? []
      : [`${counted(total, 'call')} at workers: ${shares.join(', ')}${more > 0 ? ` and ${counted(more, 'more worker')}` : ''}`]),
    ...(superseded.calls === 0 ? [] : [inVain(superseded)]),
    ...(unended.length === 0 ? [] : [withoutEnd(unended)]),
  ];
}

function withoutEnd(unended: readonly UnendedCall[]): string {
  const shown = unended.slice(0, UNENDED_SHOWN).map(({ fn, preview, worker, host, run }) => {
    const about = preview === undefined ? '' : `(${clip(oneLine(preview), PREVIEW_UNITS_MAX)})`;
    return `@${fn}${about} at ${oneLine(atHost(worker, host))} in run ${run}`;
  });
  const more = unended.length - shown.length;
  const list = `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return `${counted(unended.length, 'call')} begun by workers that ended before the call did, which may have cost something: ${list}`;
}

/** ` for $1.20`; empty where nothing is known. */
export function priceOf(usd: number | null): string {
  return usd === null ? '' : ` for ${money(usd)}`;
}

export function inVain({ calls, costUsd }: TeamReport['superseded']): string {
  const price = costUsd === null ? '' : ` (${money(costUsd)})`;
  return `${counted(calls, 'result')} paid for in vain${price}: another run's result of the same call was recorded first and is used`;
}
