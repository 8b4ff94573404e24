/** Says what was paid for a call that has ended, as its run recorded it. calls.md 10.6. */
import type { EventOf } from '../../../journal/event.js';
import { addKnownUsd, addUsd } from '../../../journal/facts/add-usd.js';

type EndedCall = Pick<EventOf<'call.completed'>, 'usage' | 'callUsage' | 'insideUsd' | 'insideReusedUsd' | 'repeatedUsd'>;

/**
 * Returns what the call and those inside it cost, in US dollars; undefined where no cost is known. A result that was reused inside had been
 * paid for before.
 */
export function paidFor(event: EndedCall): number | undefined {
  const { insideUsd, insideReusedUsd = 0 } = event;
  return addKnownUsd(attemptsUsd(event), insideUsd === undefined ? undefined : addUsd(insideUsd, -insideReusedUsd));
}

/** Returns what all attempts of the call cost. What executions cost that a guard requested is part of what the calls inside it cost. */
export function attemptsUsd({ usage, callUsage = usage, repeatedUsd = 0 }: EndedCall): number | undefined {
  return callUsage?.costUsd === undefined ? undefined : addUsd(callUsage.costUsd, -repeatedUsd);
}
