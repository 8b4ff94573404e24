/** Adds up what a call is known to have cost, and counts its attempts of unknown cost. calls.md 10.5 and 10.6. */
import { isUnpriced } from '../../fold/calls/failure-class.js';
import type { TimelineAttempt } from './timeline-attempt.js';
import type { TimelineCall } from './timeline.js';

export interface CallCost {
  /** US dollars; undefined where nothing is known. At least that, where attempts are unpriced. */
  readonly costUsd: number | undefined;
  readonly unpriced: number;
}

export function costOfCall(call: TimelineCall): CallCost {
  const { attempts, from, received, usage, outcome } = call;
  const isLineDamaged = attempts.length === 0 && from === undefined && received === undefined && outcome !== 'not-executed';
  const unpriced = isLineDamaged ? Number(isUnpriced(call)) : attempts.filter(isOfUnknownCost).length;
  const costUsd = usage?.costUsd;
  // Attempts that were free say nothing about one whose cost is unknown: 0 would.
  return { costUsd: unpriced > 0 && costUsd === 0 ? undefined : costUsd, unpriced };
}

/** One that did not end may have been charged, unless its result came back. One that a guard denied before its body did not run. */
function isOfUnknownCost(attempt: TimelineAttempt): boolean {
  const { outcome, lane, usage, isReceived } = attempt;
  if (outcome === 'denied' && lane === undefined && usage === undefined) return false;
  return (outcome === 'unfinished' && !isReceived) || isUnpriced(attempt);
}
