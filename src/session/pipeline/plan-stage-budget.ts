/** Says, for the plan of a pipeline, if a budget will do for the model stages that it lists. calls.md 17.1. */
import { pricesOf, type CostsByFunction } from '../../../replay/resume/estimate.js';
import type { BudgetLimits } from '../../calls/budget/limits.js';
import type { LearnedPace } from '../../calls/dispatch/ports.js';
import { budgetVerdict, type BudgetVerdict } from '../script/plan/plan-budget.js';

/** The model stages of a plan, those of branches and of child pipelines too, in the order of the walk. */
export interface StageCalls {
  readonly stages: StageCall[];
  /** False where only the run decides what follows a stage or in a branch, or nothing is known of a child pipeline. */
  isWhole: boolean;
}

export interface StageCall {
  readonly fn: string;
  readonly reply: 'reused' | 'received' | 'if-same' | 'executed';
  /** US dollars; null where it is not known. */
  readonly costUsd: number | null;
}

export function noStageCalls(): StageCalls {
  return { stages: [], isWhole: true };
}

/** Stages whose replies are reused if their prompts are the same can leave open that a budget will do, and not that it will not. */
export function stageBudget(limits: BudgetLimits, { stages, isWhole }: StageCalls, history: LearnedPace['costs']): BudgetVerdict {
  const verdictFor = (calls: readonly StageCall[]): BudgetVerdict => {
    const executes = calls.map(({ fn, costUsd }) => ({ fn, ...(costUsd !== null && { usd: costUsd }) }));
    const costs: CostsByFunction = new Map(calls.flatMap(({ fn, costUsd }) => (costUsd === null ? [] : [[fn, [costUsd]] as const])));
    const functions = pricesOf(executes, [costs]).map((prices) => ({ ...prices, meanAttempts: 1 }));
    const estimate = { functions, durationMs: null, untimed: executes.length, isPart: false };
    return budgetVerdict(limits, { estimate, executes, history, maxCosts: new Map(), isWhole });
  };
  const executed = verdictFor(stages.filter(({ reply }) => reply === 'executed'));
  if (executed.suffices === false) return executed;
  const all = verdictFor(stages.filter(({ reply }) => reply === 'executed' || reply === 'if-same'));
  return { ...all, suffices: all.suffices === true ? true : null, limit: null, after: null };
}
