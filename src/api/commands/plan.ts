/** Predicts what a run of a script would reuse and execute: `--plan`. */
export { planScript, type RunPlan } from '../../session/script/plan-script.js';
export type { BudgetVerdict } from '../../session/script/plan/plan-budget.js';
