/** Opens the journal of the project that the working directory belongs to. Reports never show sealed results, so no key is needed. */
import { findProject, type Project, type WorkingProject } from '../../src/api/commands/project.js';
import { openProjectStore } from '../../src/api/commands/store.js';
import type { Defect, JournalStore } from '../../journal/store.js';
import type { Io } from '../terminal/io.js';

export async function openProject(
  io: Io,
  waiting: Waiting = {},
): Promise<{ readonly project: WorkingProject; readonly store: JournalStore }> {
  const project = await projectOf(io);
  return { project, store: await storeOf(io, project, waiting) };
}

/** Says how long to wait for the store of a team that goes away. */
type Waiting = Pick<Parameters<typeof openProjectStore>[0], 'waitMs'>;

export function storeOf(
  { environment, stderr }: Pick<Io, 'environment' | 'stderr'>,
  project: Project,
  waiting: Waiting = {},
): Promise<JournalStore> {
  return openProjectStore({ project, environment, sealingKey: 'none', stderr, ...waiting });
}

export async function projectOf({ workingDirectory }: Io): Promise<WorkingProject> {
  return { ...(await findProject(workingDirectory)), workingDirectory };
}

/**
 * Warns once per run, and once of lines that were left out of a report; `mlld journal verify` lists the damage. A torn tail is the usual
 * trace of a crash and not reported.
 */
export function reportDefects(io: Io): (defect: Defect) => void {
  const reported = new Set<string>();
  return ({ kind, run: { run }, message }) => {
    const about = kind === 'unknown-members' ? `${run} ${kind}` : run;
    if (kind === 'torn-tail' || reported.has(about)) return;
    reported.add(about);
    io.stderr(`warning: run ${run}: ${message}; see mlld journal verify ${run}\n`);
  };
}
