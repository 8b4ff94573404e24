/** Goes on with runs that no process runs any more: on request, with an answer to what one of them had asked, and when a server starts. */
import path from 'node:path';
import type { RunId } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import { uploadFolder, type Project } from '../session/project.js';
import type { PipelineRuns, PipelineRun } from '../session/pipeline/history/pipeline-runs.js';
import type { RunManager } from './run-manager.js';
import { HttpError } from './http-error.js';

export interface ResumePorts {
  readonly store: JournalStore;
  readonly project: Project;
  readonly runs: PipelineRuns;
  readonly manager: RunManager;
  readonly log: (line: string) => void;
}

/** So many interrupted runs are named when a server starts. */
const NAMED_MAX = 20;

/** Resolves when it goes on. @throws Refusal, or an error of the engine, when it can't */
export async function resumeRun(
  { store, project, manager }: ResumePorts,
  { logicalRun: line, latest, status: known }: PipelineRun,
): Promise<void> {
  const { id, status, pipeline_name: name } = known;
  if (status === 'running' || status === 'waiting') throw new HttpError(409, 'RUN_GOES_ON', `Run ${id} still goes on`);
  if (status === 'completed') throw new HttpError(409, 'RUN_FINISHED', `Run ${id} is completed: there is nothing to resume`);
  const { workflow, run } = latest.ref;
  if (line.begun.parent) {
    throw new HttpError(409, 'RUN_OF_MANAGER', `Run ${id} belongs to run ${line.begun.parent.run}, which goes on with it`, {
      hint: `POST /pipelines/${line.begun.parent.run}/resume`,
    });
  }
  const newest = (await store.runs(workflow)).at(-1)?.ref.run;
  if (newest !== run) {
    throw new HttpError(409, 'RUN_NOT_LATEST', `Run ${id} is not the latest of ${workflow}, and only that can be resumed`, {
      hint: `the latest is ${newest}`,
    });
  }
  await manager.resume({ id, name, file: path.resolve(project.root, workflow), backend: line.begun.backend });
}

/** Those of pipelines that were sent to a server of this project and were interrupted, oldest first. */
async function interruptedRuns({ store, project, runs }: ResumePorts): Promise<readonly RunId[]> {
  const sent = `${uploadFolder(project)}${path.sep}`;
  const found: RunId[] = [];
  for (const { id, status } of await runs.list()) {
    if (status !== 'interrupted') continue;
    const workflow = (await store.find(id))?.workflow;
    if (workflow !== undefined && path.resolve(project.root, workflow).startsWith(sent)) found.push(id);
  }
  return found.toReversed();
}

/** Says at the start which runs an earlier server left, and goes on with them when that was asked for. Never rejects. */
export async function handleInterruptedRuns(resuming: ResumePorts, { resumes }: { readonly resumes: boolean }): Promise<void> {
  const { runs, manager, log } = resuming;
  const left = await interruptedRuns(resuming);
  if (!resumes) {
    for (const id of left.slice(-NAMED_MAX)) log(`${id}: interrupted; POST /pipelines/${id}/resume goes on with it`);
    if (left.length > 0) log(`interrupted: ${left.length}; the page and --resume-runs go on with them, too`);
    return;
  }
  for (const id of left) {
    try {
      await manager.slotFree();
      const run = await runs.find(id);
      if (run?.status.status === 'interrupted') await resumeRun(resuming, run);
    } catch (error) {
      log(`${id}: not resumed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
