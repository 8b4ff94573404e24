/** Counts the output tokens of the results that a run used, and refuses calls once its limit is reached. workflows-js.md 3.1. */
import type { Json } from '../../../journal/event.js';
import { metadataOf, type Value } from '../../values/value.js';
import { RequestRefused } from './agent-options.js';
import type { AgentPorts } from './ports.js';

export type TokenBudget = Pick<AgentPorts, 'totalTokens' | 'totals'>;

/** Throws RequestRefused. */
export function refuseWithoutBudget({ totalTokens, totals: { spentTokens, isEstimated } }: TokenBudget): void {
  if (totalTokens === null || spentTokens < totalTokens) return;
  const used = `${spentTokens} are used${isEstimated ? ', as an estimate' : ''}`;
  throw new RequestRefused('Error', `the budget of ${totalTokens} output tokens is spent: ${used}`);
}

/** A reply whose length nobody told is counted with a quarter of its characters. */
export function countTokens({ totals }: Pick<TokenBudget, 'totals'>, value: Value, json: Json): void {
  const outputTokens = metadataOf(value)?.measured?.()?.usage?.['outputTokens'];
  if (typeof outputTokens === 'number') {
    totals.spentTokens += outputTokens;
    return;
  }
  totals.isEstimated = true;
  totals.spentTokens += Math.ceil((typeof json === 'string' ? json : JSON.stringify(json)).length / 4);
}
