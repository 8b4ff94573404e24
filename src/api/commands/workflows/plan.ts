/** Says what a run of a workflow script would reuse and execute: `mlld run FILE.js --plan`. */
export type { RunOptions } from '../../../session/script/run-options.js';
export { planWorkflow, type PlanReport } from '../../../session/workflow/plan-work.js';
