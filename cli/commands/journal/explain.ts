/** `mlld journal explain RUN [PATH]`: why each llm call of a run was served or asked. */
import type { Command } from 'commander';
import { explainRun } from '../../../replay/reports/explain/explain-run.js';
import { MlldError } from '../../../src/errors.js';
import { resolveRun } from '../../../src/session/recorded-run.js';
import type { Io } from '../../terminal/io.js';
import { projectStore, reportDefects } from '../../project-store.js';
import { examples } from '../../render/examples.js';
import { renderExplanation } from '../../render/reports/explain.js';
import { paintForReport } from '../../render/paint.js';

export function addExplainCommand(journal: Command, io: Io, runArgument: string): void {
  journal
    .command('explain')
    .addHelpText(
      'after',
      examples([
        'mlld journal explain nightly',
        "mlld journal explain latest 'main/for#0[3]'",
        "mlld journal explain nightly --json | jq '.calls[].miss'",
      ]),
    )
    .description('say of every llm call of a run whether it was served, and if not, why')
    .argument('<run>', runArgument)
    .argument('[path]', 'only calls in this operation, as journal show prints it')
    .option('--json', 'print the report as JSON')
    .action((run: string, path: string | undefined, options: { readonly json?: true }) => explain(io, run, path, options));
}

async function explain(io: Io, text: string, path: string | undefined, { json }: { readonly json?: true }): Promise<void> {
  const { project, store } = await projectStore(io);
  const file = await resolveRun(store, project, text);
  const report = await explainRun(store, file, { onDefect: reportDefects(io), op: path });
  if (path !== undefined && report.calls.length === 0) {
    throw new MlldError('OPERATION_UNKNOWN', `No llm call of run ${file.ref.run} lies in ${path}`, {
      hint: `mlld journal explain ${file.ref.run} lists all of them`,
    });
  }
  io.stdout(json ? `${JSON.stringify(report, undefined, 2)}\n` : renderExplanation(report, paintForReport(io)));
}
