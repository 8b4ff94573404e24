/** Says what a run of a workflow script would reuse and execute: `mlld run FILE.js --plan`. */
export { planWorkflow, type PlanReport } from '../../../session/workflow/plan-workflow.js';
