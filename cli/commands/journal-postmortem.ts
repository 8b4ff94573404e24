/** `mlld journal postmortem [RUN]`: why a run did not get to its end, and how to go on. */
import type { Command } from 'commander';
import { lastIncomplete, postMortemOf } from '../../replay/postmortem-run.js';
import { allRuns, resolveRun } from '../../src/recorded-run.js';
import type { Io } from '../io.js';
import { projectStore, reportDefects } from '../project-store.js';
import { examples } from '../render/examples.js';
import { paintForReport } from '../render/paint.js';
import { renderPostMortem } from '../render/postmortem.js';

export function addPostMortemCommand(journal: Command, io: Io, runArgument: string): void {
  journal
    .command('postmortem')
    .addHelpText(
      'after',
      examples(['mlld journal postmortem', 'mlld journal postmortem nightly', 'mlld journal postmortem nightly@2 --json | jq .failures']),
    )
    .description('say why a run did not get to its end, what it has, and how to go on')
    .argument('[run]', `${runArgument}; without one, the last that did not complete`)
    .option('--json', 'print the report as JSON')
    .action((run: string | undefined, options: { readonly json?: true }) => tell(io, run, options));
}

async function tell(io: Io, text: string | undefined, { json }: { readonly json?: true }): Promise<void> {
  const { project, store } = await projectStore(io);
  const file = text === undefined ? lastIncomplete(await allRuns(store)) : await resolveRun(store, project, text);
  if (file === undefined) {
    io.stdout(json ? 'null\n' : 'Every recorded run completed.\n');
    return;
  }
  const report = await postMortemOf(store, file, { nowMs: io.todayMs(), onDefect: reportDefects(io) });
  io.stdout(json ? `${JSON.stringify(report, undefined, 2)}\n` : renderPostMortem(report, paintForReport(io)));
}
