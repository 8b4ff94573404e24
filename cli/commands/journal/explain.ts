/** `mlld journal explain RUN [PATH]`: prints why the result of each llm call was reused, or why not. */
import { explainRun } from '../../../src/api/reports/explain.js';
import { MlldError } from '../../../src/errors.js';
import { resolveRun } from '../../../src/api/recorded-runs.js';
import type { Io } from '../../terminal/io.js';
import { openProject, reportDefects } from '../open-project.js';
import { renderExplanation } from '../../render/reports/explain.js';
import { reportStyle } from '../../render/style.js';

export async function explain(io: Io, text: string, path: string | undefined, { json }: { readonly json?: true }): Promise<void> {
  const { project, store } = await openProject(io);
  const file = await resolveRun(store, project, text);
  const report = await explainRun(store, file, { onDefect: reportDefects(io), op: path });
  if (path !== undefined && report.calls.length === 0) {
    throw new MlldError('OPERATION_UNKNOWN', `Run ${file.ref.run} made no llm call in ${path}`, {
      hint: `mlld journal explain ${file.ref.run} lists all of them`,
    });
  }
  io.stdout(json ? `${JSON.stringify(report, undefined, 2)}\n` : renderExplanation(report, reportStyle(io)));
}
