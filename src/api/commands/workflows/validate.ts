/** Checks a workflow script without running it: `mlld validate FILE.js`. */
export { validateWorkflow } from '../../../session/workflow/workflow-files.js';
export type { ValidatedWorkflow } from '../../../workflows/check-workflow.js';
