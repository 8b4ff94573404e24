/** Says which workers executed calls of a run, and which results were paid for in vain. */
import { atHost } from '../../src/api/commands/words.js';
import type { TeamReport } from '../../replay/reports/team/team-calls.js';
import { oneLine } from './one-line.js';
import { counted } from './reports/garbage-collection.js';
import { money } from './units.js';

const WORKERS_SHOWN = 10;

export function teamLines({ workers, superseded }: TeamReport): readonly string[] {
  const shares = workers.slice(0, WORKERS_SHOWN).map(({ name, host, executed, failed, costUsd }) => {
    const price = costUsd === null ? '' : ` for ${money(costUsd)}`;
    return `${oneLine(atHost(name, host ?? undefined))} ${executed}${price}${failed === 0 ? '' : ` and ${failed} failed`}`;
  });
  const more = workers.length - shares.length;
  const total = workers.reduce((sum, { executed, failed }) => sum + executed + failed, 0);
  return [
    ...(workers.length === 0
      ? []
      : [`${counted(total, 'call')} at workers: ${shares.join(', ')}${more > 0 ? ` and ${counted(more, 'more worker')}` : ''}`]),
    ...(superseded.calls === 0 ? [] : [inVain(superseded)]),
  ];
}

export function inVain({ calls, costUsd }: TeamReport['superseded']): string {
  const price = costUsd === null ? '' : ` (${money(costUsd)})`;
  return `${counted(calls, 'result')} paid for in vain${price}: another run's result of the same call was recorded first and is used`;
}
