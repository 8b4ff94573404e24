/** Prints the last lines of a run that did not complete: what it recorded, how to resume it, where to look. Loaded only then. */
import type { Project } from '../../src/api/commands/project.js';
import type { RunRef } from '../../src/api/ids.js';
import { postMortemOf, type PostMortemReport } from '../../src/api/reports/postmortem.js';
import { storeOf } from './open-project.js';
import type { Io } from '../terminal/io.js';
import { renderKept, renderResumeAdvice, renderStopped } from '../render/reports/postmortem.js';
import type { RecordedCommand } from '../render/resume-command.js';
import { isUserError } from '../render/error.js';

/** Reading so much takes about 500 ms, and a user waits for it. */
const READ_BYTES_MAX = 64 * 1024 * 1024;

type AdviceIo = Pick<Io, 'environment' | 'stderr' | 'todayMs'>;

interface Advice {
  readonly command: RecordedCommand;
  /** The summary of the calls names the command. */
  readonly isInSummary: boolean;
  /** A sentence about the signal that ended the run. */
  readonly stopped?: string;
}

export async function adviseResume(io: AdviceIo, project: Project, ref: RunRef, { command, isInSummary, stopped }: Advice): Promise<void> {
  // While the store is away, nothing can be read. The run has said so, and must end with its own status.
  const report = await reportOf(io, project, ref).catch((error: unknown) => {
    if (!isUserError(error)) throw error;
    return undefined;
  });
  if (stopped !== undefined) {
    io.stderr(renderStopped(stopped, ref.run, report, report ?? command));
    return;
  }
  const resumes = isInSummary ? undefined : (report ?? command);
  if (report) io.stderr(renderKept(report));
  io.stderr(renderResumeAdvice(ref.run, resumes));
}

async function reportOf(io: AdviceIo, project: Project, ref: RunRef): Promise<PostMortemReport | undefined> {
  const store = await storeOf(io, project);
  const file = (await store.runs(ref.workflow)).find((candidate) => candidate.ref.run === ref.run);
  if (file === undefined || file.bytes > READ_BYTES_MAX) return undefined;
  // Damage was reported while it was written, and journal postmortem reports it again.
  return postMortemOf(store, file, { nowMs: io.todayMs(), onDefect: () => undefined });
}
