/** `--plan` of a workflow script. Nothing is run. */
import type { RunOptions } from '../script/run-options.js';
import { planWork, type PlanReport } from './plan-work.js';
import type { AgentSettings } from './recorded-work.js';
import { readWorkflowFile } from './workflow-files.js';

export type { PlanReport } from './plan-work.js';

/** Throws the errors with which a run with these options would not start. */
export async function planWorkflow(options: RunOptions, settings: AgentSettings): Promise<PlanReport> {
  const { script, workingDirectory } = options;
  if (script.kind !== 'file') throw new Error('a workflow script is a file');
  const { text } = await readWorkflowFile(script.path, { workingDirectory });
  const phases = text.meta.phases.map(({ title }) => title);
  return planWork({ options, settings }, phases);
}
