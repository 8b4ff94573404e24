/**
 * Folds what each result of a run had cost, all attempts of its call included, by function. Results of unknown cost are left out, and
 * simulated ones. One that guards judge counts when it comes back, whatever they make of it: it is paid for.
 */
import { costOfReceived, emptyLedger, followCall, type CallLedger } from './calls/call-ledger.js';
import type { Projection } from './projection.js';
import { isOfSimulatedCall, noSimulatedCalls, type SimulatedCalls } from './simulated-calls.js';

export interface ResultCosts {
  readonly ledger: CallLedger;
  readonly simulated: SimulatedCalls;
  /** US dollars, in the order in which the results came back. */
  readonly usd: Map<string, number[]>;
}

export const resultCosts: Projection<ResultCosts> = {
  initial: () => ({ ledger: emptyLedger(), simulated: noSimulatedCalls(), usd: new Map() }),
  apply(state, event) {
    const call = followCall(state.ledger, event);
    if (isOfSimulatedCall(state.simulated, event)) return state;
    if (event.type === 'result.received') {
      const { fn, usd } = costOfReceived(state.ledger, event) ?? {};
      add(state, fn, usd);
    }
    if (call?.outcome === 'executed' && !call.wasReceived) add(state, call.fn, call.totalUsd);
    return state;
  },
};

function add({ usd: costs }: ResultCosts, fn: string | undefined, usd: number | undefined): void {
  if (fn === undefined || usd === undefined) return;
  const known = costs.get(fn);
  if (known) known.push(usd);
  else costs.set(fn, [usd]);
}
