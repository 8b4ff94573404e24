/** Checks the file of a workflow script without running it. workflows-js.md 8 and 13. */
import { checkWorkflow, type ValidatedWorkflow } from '../../workflows/check-workflow.js';
import { readWorkflowText } from './workflow-files.js';

export type { ValidatedWorkflow } from '../../workflows/check-workflow.js';

/** Throws FILE_NOT_FOUND. What is wrong with the text is in the report. */
export async function validateWorkflow(
  file: string,
  written: string,
  place: { readonly workingDirectory: string },
): Promise<ValidatedWorkflow> {
  return checkWorkflow(written, readWorkflowText(file, place));
}
