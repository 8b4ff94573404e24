/** Checks a workflow script without running it: `mlld validate FILE.js`. */
export { validateWorkflow, type ValidatedWorkflow } from '../../../session/workflow/validate-workflow.js';
