/** Folds what each result of a run had cost, all attempts of its call included, by function. Results of unknown cost are left out. */
import { emptyLedger, followCall, type CallLedger } from './calls/call-ledger.js';
import type { Projection } from './projection.js';

export interface ResultCosts {
  readonly ledger: CallLedger;
  /** US dollars, in the order in which the calls ended. */
  readonly usd: Map<string, number[]>;
}

export const resultCosts: Projection<ResultCosts> = {
  initial: () => ({ ledger: emptyLedger(), usd: new Map() }),
  apply(state, event) {
    const call = followCall(state.ledger, event);
    if (call?.outcome !== 'executed' || call.totalUsd === undefined) return state;
    const known = state.usd.get(call.fn);
    if (known) known.push(call.totalUsd);
    else state.usd.set(call.fn, [call.totalUsd]);
    return state;
  },
};
