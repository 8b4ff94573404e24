/** Runs a workflow script with the options of the command line: `mlld run FILE.js`. */
export { runWorkflow, type WorkflowReport, type WorkflowSettings } from '../../../session/workflow/run-workflow.js';
