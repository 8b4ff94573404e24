/** `mlld journal diff LEFT RIGHT`: what two runs have in common and where they differ. Exit status 0 same, 1 different, 2 trouble. */
import type { Command } from 'commander';
import { diffRuns, doPart, forkPointOf } from '../../../replay/reports/diff/diff-run.js';
import { resolveRun } from '../../../src/session/recorded-run.js';
import { EXIT_FAILED, EXIT_OK, EXIT_TROUBLE } from '../../exit-codes.js';
import type { Io } from '../../terminal/io.js';
import { projectStore, reportDefects } from '../../project-store.js';
import { renderDiff, renderForkPoint } from '../../render/reports/diff.js';
import { renderError } from '../../render/error.js';
import { examples } from '../../render/examples.js';
import { paintForReport } from '../../render/paint.js';

interface DiffOptions {
  readonly forkPoint?: true;
  readonly json?: true;
}

/** `onStatus` is told the exit status. */
export function addDiffCommand(journal: Command, io: Io, runArgument: string, onStatus: (status: number) => void): void {
  journal
    .command('diff')
    .addHelpText(
      'after',
      examples([
        'mlld journal diff nightly@2 nightly',
        'mlld journal diff nightly@2 nightly --json | jq .calls.changed',
        'mlld journal diff draft-a draft-b --fork-point',
      ]),
    )
    .description('compare two runs; exit status 0 when they are the same, 1 when they differ, 2 when they can not be compared')
    .argument('<left>', runArgument)
    .argument('<right>', runArgument)
    .option('--fork-point', 'show where two runs with a common past parted')
    .option('--json', 'print the report as JSON')
    .action(async (left: string, right: string, options: DiffOptions) => {
      try {
        onStatus(await diff(io, left, right, options));
      } catch (error) {
        // A script that compares has to tell a difference from a failure.
        io.stderr(renderError(error, { debug: io.argv.includes('--debug') }));
        onStatus(EXIT_TROUBLE);
      }
    });
}

async function diff(io: Io, leftText: string, rightText: string, { forkPoint, json }: DiffOptions): Promise<number> {
  const { project, store } = await projectStore(io);
  const [left, right] = [await resolveRun(store, project, leftText), await resolveRun(store, project, rightText)];
  const options = { onDefect: reportDefects(io) };
  const paint = paintForReport(io);
  if (forkPoint) {
    const report = await forkPointOf(store, left, right, options);
    io.stdout(json ? `${JSON.stringify(report, undefined, 2)}\n` : renderForkPoint(report, paint));
    return doPart(report) ? EXIT_FAILED : EXIT_OK;
  }
  const report = await diffRuns(store, left, right, options);
  io.stdout(json ? `${JSON.stringify(report, undefined, 2)}\n` : renderDiff(report, paint));
  return report.same ? EXIT_OK : EXIT_FAILED;
}
