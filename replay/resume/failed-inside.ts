/**
 * Finds the calls whose bodies went on without a call inside that failed: they have a result, which may wait for guards, and as long as
 * that is used, the call inside is never executed again. calls.md 15.5.
 */
import type { CallKey, RunRef, Seq } from '../../journal/ids.js';
import type { Defect, JournalStore } from '../../journal/store.js';
import { emptyLedger, followCall, type CallLedger } from '../fold/calls/call-ledger.js';
import { foldRun } from '../fold/fold-run.js';
import type { Projection } from '../fold/projection.js';
import { callsAround } from '../memo/calls-around.js';
import { usable, usableEntry, type Memo } from '../memo/memo.js';

interface Suspects {
  readonly ref: RunRef;
  /** Calls without a result, each with the calls around it whose results this run recorded. */
  readonly inside: Map<CallKey, Set<CallKey>>;
}

/**
 * Believes what a result says of the calls inside it (`unresolvedInside`). Those of earlier versions say nothing: so it also reads the runs
 * that recorded the result of a call with a call inside that has none.
 */
export async function callsAroundFailures(
  store: JournalStore,
  memo: Memo,
  { onDefect }: { readonly onDefect: (defect: Defect) => void },
): Promise<ReadonlySet<CallKey>> {
  const found = new Set(incompleteCalls(memo));
  for (const { ref, inside } of suspectsIn(memo)) {
    const failed = await foldRun(store, ref, failedCalls, { onDefect });
    for (const [key, around] of inside) {
      const failedAt = failed.at.get(key);
      if (failedAt === undefined || !failed.ledger.failures.byKey.has(key)) continue;
      // A call that fails behind the result is one of the guards that judge it.
      for (const each of around) if (failedAt < (memo.unjudged.get(each)?.result.seq ?? Number.POSITIVE_INFINITY)) found.add(each);
    }
  }
  return new Set([...found, ...callsAround([memo], found)]);
}

function* incompleteCalls(memo: Memo): Generator<CallKey> {
  for (const [key, { result }] of usable(memo)) if (result.isIncomplete) yield key;
  for (const [key, { result }] of memo.unjudged) if (result.isIncomplete) yield key;
}

function suspectsIn(memo: Memo): Iterable<Suspects> {
  const byRun = new Map<string, Suspects>();
  for (const [key, arounds] of memo.within) {
    if (usableEntry(memo, key) !== undefined) continue;
    for (const around of arounds) {
      const ref = (usableEntry(memo, around) ?? memo.unjudged.get(around))?.result.ref;
      if (ref === undefined) continue;
      let suspects = byRun.get(ref.run);
      if (suspects === undefined) byRun.set(ref.run, (suspects = { ref, inside: new Map() }));
      const known = suspects.inside.get(key);
      if (known === undefined) suspects.inside.set(key, new Set([around]));
      else known.add(around);
    }
  }
  return byRun.values();
}

interface FailedCalls {
  readonly at: Map<CallKey, Seq>;
  readonly ledger: CallLedger;
}

/**
 * Folds the calls of one run that failed at last and that the run counts, with the event that says so. One that was denied has not failed,
 * and an accepted failure was meant to be.
 */
const failedCalls: Projection<FailedCalls> = {
  initial: () => ({ at: new Map(), ledger: emptyLedger() }),
  apply(state, event) {
    followCall(state.ledger, event);
    switch (event.type) {
      case 'call.failed':
        if (event.retryInMs !== undefined) return state;
        if (event.denied !== true && event.accepted !== true) state.at.set(event.key, event.seq);
        return state;
      case 'call.completed':
      case 'call.reused':
        state.at.delete(event.key);
        return state;
      default:
        return state;
    }
  },
};
