/** The calls that a run counts, of all those that it made. */
import type { OpPath } from '../../../journal/ids.js';
import { areSideBySide } from '../../../journal/facts/side-by-side.js';
import type { ExplainedCall } from './explain.js';

/** Leaves out a call that failed and was made again with a result. COUNTS-2 in `call-ledger.ts`. `calls`: in the order of the run. */
export function countedCalls<Call extends Pick<ExplainedCall, 'key' | 'op' | 'outcome'>>(calls: readonly Call[]): readonly Call[] {
  const withResult = new Map<string, OpPath[]>();
  return calls
    .toReversed()
    .filter(({ key, op, outcome }) => {
      const later = withResult.get(key);
      if (outcome === 'failed' || outcome === 'not-executed') return later?.every((other) => areSideBySide(op, other)) ?? true;
      if (outcome === 'executed' || outcome === 'reused') {
        if (later) later.push(op);
        else withResult.set(key, [op]);
      }
      return true;
    })
    .toReversed();
}
