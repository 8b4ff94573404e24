/** `mlld journal report RUN -o FILE`: makes a page of a run for a browser. */
import fs from 'node:fs/promises';
import { diffRuns } from '../../../src/api/reports/diff.js';
import { openPage } from '../../../src/api/reports/page.js';
import { pageHtml } from '../../../src/api/reports/page-html.js';
import { timelineOf } from '../../../src/api/reports/timeline.js';
import { resolveRun } from '../../../src/api/recorded-runs.js';
import type { Io } from '../../terminal/io.js';
import { openOutput } from '../../terminal/output-file.js';
import { openProject, reportDefects } from '../open-project.js';
import { nextSteps } from '../../render/reports/next-steps.js';

interface ReportOptions {
  readonly output?: string;
  readonly diff?: string;
  readonly json?: true;
}

export async function report(io: Io, text: string, { output: file, diff: other, json }: ReportOptions): Promise<void> {
  const { project, store } = await openProject(io);
  const run = await resolveRun(store, project, text);
  const onDefect = reportDefects(io);
  if (json) {
    const data = await timelineOf(store, run, { onDefect });
    const output = openOutput(io, file);
    output.write(`${JSON.stringify(data)}\n`);
    output.finish();
    return;
  }
  const page = await openPage(store, run, { onDefect, stepsOf: nextSteps });
  const diff = other === undefined ? undefined : await diffRuns(store, await resolveRun(store, project, other), run, { onDefect });
  const [viewer, style] = await Promise.all([builtFile('report.js'), builtFile('report.css')]);
  const output = openOutput(io, file);
  for (const part of pageHtml({ ...page, diff, viewer, style })) output.write(part);
  output.finish();
}

/** The viewer lies beside the program. */
function builtFile(name: string): Promise<string> {
  return fs.readFile(new URL(name, import.meta.url), 'utf8');
}
