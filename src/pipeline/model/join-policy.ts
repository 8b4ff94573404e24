/** Decides when the branches of a parallel node satisfy its join, and the status that the node then has. graph-pipelines.md 7.5. */
import type { ErrorPolicy, JoinPolicy } from './attributes.js';
import type { StageStatus } from './outcome.js';

export interface JoinRule {
  readonly join: JoinPolicy;
  readonly errors: ErrorPolicy;
  /** The number of successes that `k_of_n` needs. */
  readonly k: number;
}

/** `open` while branches that run may still decide. */
export type JoinVerdict = 'open' | 'satisfied' | 'failed';

/** The statuses of the branches; undefined for a branch that has not ended. */
type Ends = readonly (StageStatus | undefined)[];

export function joinVerdict(rule: JoinRule, ends: Ends): JoinVerdict {
  const running = count(ends, undefined);
  const failed = count(ends, 'fail');
  if (rule.join !== 'wait_all' && count(ends, 'success') >= needed(rule, ends)) return 'satisfied';
  if (rule.errors === 'fail_fast' && failed > 0) return 'failed';
  if (running === 0) return rule.join === 'wait_all' ? 'satisfied' : 'failed';
  // If failed branches don't count, a branch that has yet to fail can't make the join impossible. A partial success is enough for one.
  const possible = count(ends, 'success') + count(ends, 'partial_success') + running;
  const isHopeless = rule.join !== 'wait_all' && rule.errors !== 'ignore' && possible < needed(rule, ends);
  return isHopeless ? 'failed' : 'open';
}

/** Returns the status of the parallel node, once the verdict is not `open`. */
export function joinStatus(rule: JoinRule, ends: Ends): StageStatus {
  const failed = count(ends, 'fail');
  if (rule.join === 'wait_all') {
    if (rule.errors === 'fail_fast' && failed > 0) return 'fail';
    return failed === 0 || (rule.errors === 'ignore' && failed < ends.length) ? 'success' : 'partial_success';
  }
  const isEnough = (successes: number): boolean => successes >= needed(rule, ends);
  if (isEnough(count(ends, 'success'))) return 'success';
  if (rule.errors === 'fail_fast' && failed > 0) return 'fail';
  return isEnough(count(ends, 'success') + count(ends, 'partial_success')) ? 'partial_success' : 'fail';
}

/** Returns how many branches have to succeed; at least one. */
export function needed({ join, errors, k }: JoinRule, ends: Ends): number {
  const counting = errors === 'ignore' ? ends.length - count(ends, 'fail') : ends.length;
  switch (join) {
    case 'wait_all':
      return Math.max(1, counting);
    case 'first_success':
      return 1;
    case 'k_of_n':
      return Math.max(1, Math.min(k, counting));
    case 'quorum':
      return Math.floor(counting / 2) + 1;
  }
}

function count(ends: Ends, status: StageStatus | undefined): number {
  return ends.filter((end) => end === status).length;
}
