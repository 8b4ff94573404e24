/** Resumes runs whose process has ended: on request, with an answer to a question of theirs, and when a server starts. */
import path from 'node:path';
import type { RunId, Workflow } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import { type PipelineRun, type PipelineRuns, type Project, recordedFile, uploadFolder } from '../api/pipeline-runs.js';
import { messageOf } from '../errors.js';
import type { RunManager } from './run-manager.js';
import { hintOf, HttpError } from './http-error.js';

export interface ResumePorts {
  readonly store: JournalStore;
  readonly project: Project;
  readonly runs: PipelineRuns;
  readonly manager: RunManager;
  readonly log: (line: string) => void;
}

/** The most interrupted runs that are named when a server starts. */
const NAMED_MAX = 20;

/** Resolves when the run is running again. @throws HttpError, or an error of the engine, when it can't be resumed */
export async function resumeRun(
  { project, manager }: ResumePorts,
  { logicalRun: line, latest, newest, status: known }: PipelineRun,
): Promise<void> {
  const { id, status, pipeline_name: name } = known;
  if (status === 'running' || status === 'waiting')
    throw new HttpError(409, 'RUN_GOES_ON', `Run ${id} is still running`, {
      hint: `wait for it to end, or cancel it: POST /pipelines/${id}/cancel`,
    });
  if (status === 'completed') throw new HttpError(409, 'RUN_FINISHED', `Run ${id} is completed, so there is nothing to resume`);
  const { workflow, run } = latest.ref;
  if (line.begun.parent) {
    throw new HttpError(409, 'RUN_OF_MANAGER', `Run ${id} belongs to run ${line.begun.parent.run}, which resumes it`, {
      hint: `POST /pipelines/${line.begun.parent.run}/resume`,
    });
  }
  if (newest !== run) {
    throw new HttpError(409, 'RUN_NOT_LATEST', `Run ${id} is not the latest run of ${workflow}, and only the latest can be resumed`, {
      hint: `the latest run is ${newest}`,
    });
  }
  const runs = new Set(line.segments.map(({ ref }) => ref.run));
  await manager.resume({ id, latest: run, runs, name, file: fileOf(project, workflow, id), backend: line.begun.backend });
}

/** A request names no file outside of the project, and neither may a record. */
function fileOf(project: Project, workflow: Workflow, id: RunId): string {
  const file = recordedFile(project, workflow);
  if (file !== undefined) return file;
  throw new HttpError(409, 'RUN_OUTSIDE', `Run ${id} is recorded for ${workflow}, which is outside of the project`, {
    hint: 'where the file is to be trusted: mlld run FILE --resume --ask remote',
  });
}

/** Returns the interrupted runs of uploaded pipelines, oldest first. */
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

/** Logs which runs an earlier server left interrupted, or resumes them if `resumes` is set. */
export async function handleInterruptedRuns(resuming: ResumePorts, { resumes }: { readonly resumes: boolean }): Promise<void> {
  const { runs, manager, log } = resuming;
  const left = await interruptedRuns(resuming);
  if (!resumes) {
    for (const id of left.slice(-NAMED_MAX)) log(`${id}: interrupted; POST /pipelines/${id}/resume resumes it`);
    if (left.length > 0) log(`${left.length} interrupted in all; the page and --resume-runs resume them, too`);
    return;
  }
  for (const id of left) {
    try {
      await manager.slotFree();
      const run = await runs.find(id);
      if (run?.status.status === 'interrupted') await resumeRun(resuming, run);
    } catch (error) {
      const hint = hintOf(error);
      log(`${id}: not resumed: ${messageOf(error)}${hint === undefined ? '' : ` (${hint})`}`);
    }
  }
}
