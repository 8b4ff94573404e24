/** Finds a recorded workflow by what a user calls it. */
import type { Workflow } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import { workflowByPath, workflowFor, type WorkingProject } from './project.js';

/** By its path or name, and a workflow script also by its `meta.name` (workflows-js.md 12). Throws SCRIPT_AMBIGUOUS and WORKFLOW_NAME. */
export async function resolveWorkflow(store: JournalStore, project: WorkingProject, written: string): Promise<Workflow | undefined> {
  const found = await workflowByPath(store, project, written);
  if (found !== undefined) return found;
  const recorded = await store.workflows();
  if (!recorded.some((workflow) => /\.m?js$/.test(workflow))) return undefined;
  const { findWorkflow } = await import('./workflow/workflow-files.js');
  const file = await findWorkflow(written, { project, home: undefined, workingDirectory: project.workingDirectory });
  const named = file === undefined ? undefined : workflowFor(project, file);
  return recorded.find((workflow) => workflow === named);
}
