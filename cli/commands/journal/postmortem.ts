/** `mlld journal postmortem [RUN]`: prints why a run did not reach its end, and how to continue. */
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { latestFailure, postMortemOf } from '../../../src/api/reports/postmortem.js';
import { allRuns, resolveRun } from '../../../src/api/recorded-runs.js';
import type { Io } from '../../terminal/io.js';
import { openProject, reportDefects } from '../open-project.js';
import { reportStyle } from '../../render/style.js';
import { renderPostMortem } from '../../render/reports/postmortem.js';

export async function postMortem(io: Io, text: string | undefined, { json }: { readonly json?: true }): Promise<void> {
  const { project, store } = await openProject(io);
  const file = text === undefined ? await unnamed(store) : await resolveRun(store, project, text);
  if (typeof file === 'string') {
    io.stdout(json ? 'null\n' : `${file}\n`);
    return;
  }
  const report = await postMortemOf(store, file, { nowMs: io.todayMs(), onDefect: reportDefects(io) });
  io.stdout(json ? `${JSON.stringify(report, undefined, 2)}\n` : renderPostMortem(report, reportStyle(io)));
}

/** Resolves to a text that explains why there is no such run. */
async function unnamed(store: JournalStore): Promise<RunFile | string> {
  const latest = await latestFailure(store);
  if (latest !== undefined) return latest;
  return (await allRuns(store)).length > 0 ? 'Every recorded run completed, or was resumed to its end since.' : 'No run is recorded here.';
}
