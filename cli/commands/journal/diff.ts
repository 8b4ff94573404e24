/** `mlld journal diff LEFT RIGHT`: compares two runs. Exit status 0: same, 1: different, 2: not compared. */
import { diffRuns, doPart, forkPointOf } from '../../../src/api/reports/diff.js';
import { resolveRun } from '../../../src/api/recorded-runs.js';
import { EXIT_FAILED, EXIT_OK, EXIT_NOT_COMPARED } from '../../exit-codes.js';
import type { Io } from '../../terminal/io.js';
import { openProject, reportDefects } from '../open-project.js';
import { renderDiff, renderForkPoint } from '../../render/reports/diff.js';
import { renderError } from '../../render/error.js';
import { reportStyle } from '../../render/style.js';

interface DiffOptions {
  readonly forkPoint?: true;
  readonly json?: true;
}

/** A script that compares needs to distinguish a difference from a failure, so an error is printed here and has a status of its own. */
export async function diff(io: Io, left: string, right: string, options: DiffOptions): Promise<number> {
  try {
    return await compare(io, left, right, options);
  } catch (error) {
    io.stderr(renderError(error, { debug: io.argv.includes('--debug') }));
    return EXIT_NOT_COMPARED;
  }
}

async function compare(io: Io, leftText: string, rightText: string, { forkPoint, json }: DiffOptions): Promise<number> {
  const { project, store } = await openProject(io);
  const [left, right] = [await resolveRun(store, project, leftText), await resolveRun(store, project, rightText)];
  const options = { onDefect: reportDefects(io) };
  const style = reportStyle(io);
  if (forkPoint) {
    const report = await forkPointOf(store, left, right, options);
    io.stdout(json ? `${JSON.stringify(report, undefined, 2)}\n` : renderForkPoint(report, style));
    return doPart(report) ? EXIT_FAILED : EXIT_OK;
  }
  const report = await diffRuns(store, left, right, options);
  io.stdout(json ? `${JSON.stringify(report, undefined, 2)}\n` : renderDiff(report, style));
  return report.same ? EXIT_OK : EXIT_FAILED;
}
