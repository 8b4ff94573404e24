/** `mlld journal report RUN -o FILE`: makes a page of a run for a browser. */
import fs from 'node:fs/promises';
import { diffRuns } from '../../../src/api/reports/diff.js';
import { openTimeline, type OpenTimeline } from '../../../src/api/reports/timeline.js';
import { resolveRun } from '../../../src/api/recorded-runs.js';
import type { Io } from '../../terminal/io.js';
import { openOutput } from '../../terminal/output-file.js';
import { openProject, reportDefects } from '../open-project.js';
import { reportPage } from '../../render/reports/report-page.js';

interface ReportOptions {
  readonly output?: string;
  readonly diff?: string;
  readonly json?: true;
}

export async function report(io: Io, text: string, { output: file, diff: other, json }: ReportOptions): Promise<void> {
  const { project, store } = await openProject(io);
  const run = await resolveRun(store, project, text);
  const onDefect = reportDefects(io);
  const timeline = await openTimeline(store, run, { onDefect });
  const { data } = timeline;
  const output = openOutput(io, file);
  if (json) output.write(`${JSON.stringify(data)}\n`);
  else {
    const diff = other === undefined ? undefined : await diffRuns(store, await resolveRun(store, project, other), run, { onDefect });
    const details = await detailLines(timeline);
    const [viewer, style] = await Promise.all([builtFile('report.js'), builtFile('report.css')]);
    for (const part of reportPage({ data, details, diff, viewer, style })) output.write(part);
  }
  output.finish();
}

async function detailLines(timeline: OpenTimeline): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const span of timeline.details()) lines.push(JSON.stringify(span));
  return lines;
}

/** The viewer lies beside the program. */
function builtFile(name: string): Promise<string> {
  return fs.readFile(new URL(name, import.meta.url), 'utf8');
}
