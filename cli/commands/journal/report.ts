/** `mlld journal report RUN -o FILE`: makes a page of a run for a browser; `--script NAME` one over many runs. */
import fs from 'node:fs/promises';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { diffRuns } from '../../../src/api/reports/diff.js';
import { openPage } from '../../../src/api/reports/page.js';
import { pageHtml } from '../../../src/api/reports/page-html.js';
import { trendOf } from '../../../src/api/reports/stats.js';
import { timelineOf } from '../../../src/api/reports/timeline.js';
import { trendHtml } from '../../../src/api/reports/trend-html.js';
import { recordedScript, resolveRun } from '../../../src/api/recorded-runs.js';
import { MlldError } from '../../../src/errors.js';
import type { Io } from '../../terminal/io.js';
import { openOutput } from '../../terminal/output-file.js';
import { openProject, reportDefects } from '../open-project.js';
import { nextSteps } from '../../render/reports/next-steps.js';

interface ReportOptions {
  readonly output?: string;
  readonly diff?: string;
  readonly script?: string;
  readonly last?: number;
  readonly json?: true;
}

/** A page draws a bar for each run. */
const LAST_DEFAULT = 30;

export async function report(io: Io, text: string | undefined, { script, last, ...options }: ReportOptions): Promise<void> {
  if (text === undefined && script === undefined)
    throw new MlldError('USAGE', 'a run is missing', {
      hint: 'mlld journal report latest -o report.html, or --script NAME for a page over many runs',
    });
  if (text !== undefined && (script !== undefined || last !== undefined))
    throw new MlldError('USAGE', `${text} is one run, and --script and --last are about many`, {
      hint: 'mlld journal report --script NAME --last 30',
    });
  if (script !== undefined && options.diff !== undefined)
    throw new MlldError('USAGE', '--diff compares one run with another', { hint: 'mlld journal report RUN --diff OTHER' });
  if (script === undefined) return reportRun(io, text as string, options); // one of the two is there
  return reportRuns(io, script, { ...options, last: last ?? LAST_DEFAULT });
}

async function reportRuns(io: Io, script: string, { output: file, last, json }: ReportOptions): Promise<void> {
  const { project, store } = await openProject(io);
  const workflow = await recordedScript(store, project, script);
  const trend = await trendOf(store, { workflow, ...(last !== undefined && { last }), onDefect: reportDefects(io) });
  const output = openOutput(io, file);
  if (json) output.write(`${JSON.stringify(trend)}\n`);
  else {
    const [viewer, style] = await Promise.all([builtFile('trend.js'), builtFile('trend.css')]);
    output.write(trendHtml({ trend, viewer, style }));
  }
  output.finish();
}

async function reportRun(io: Io, text: string, { output: file, diff: other, json }: ReportOptions): Promise<void> {
  const { project, store } = await openProject(io);
  const run = await resolveRun(store, project, text);
  if (json) {
    const data = await timelineOf(store, run, { onDefect: reportDefects(io) });
    const output = openOutput(io, file);
    output.write(`${JSON.stringify(data)}\n`);
    output.finish();
    return;
  }
  const page = await pageOf(io, store, run, { other: other === undefined ? undefined : await resolveRun(store, project, other) });
  const output = openOutput(io, file);
  for (const part of page) output.write(part);
  output.finish();
}

/**
 * Returns the parts of the HTML file of a run, with what differs from another run. `version` is that of a page which follows a run and
 * is served anew.
 */
export async function pageOf(
  io: Io,
  store: JournalStore,
  run: RunFile,
  { other, version }: { readonly other?: RunFile | undefined; readonly version?: string | undefined },
): Promise<Iterable<string>> {
  const onDefect = reportDefects(io);
  const page = await openPage(store, run, { onDefect, stepsOf: nextSteps });
  const diff = other === undefined ? undefined : await diffRuns(store, other, run, { onDefect });
  const [viewer, style] = await Promise.all([builtFile('report.js'), builtFile('report.css')]);
  return pageHtml({ ...page, diff, viewer, style, ...(version !== undefined && { version }) });
}

/** The viewer lies beside the program. */
function builtFile(name: string): Promise<string> {
  return fs.readFile(new URL(name, import.meta.url), 'utf8');
}
