/** Executes model calls by a program that reads the text on its standard input and writes the reply to its standard output. */
import { modelSettingsOf } from '../model/graph.js';
import { StageError } from '../model/outcome.js';
import { readStatusReport, missingReport } from '../stage/status-report.js';
import { commandFailed, runStageCommand, withoutLineEnds } from '../stage/run-stage-command.js';
import type { Backend } from '../stage/backend.js';

/** @param kind a `worker` has to leave a status file; a `cmd` may */
export function commandBackend(kind: 'cmd' | 'worker', command: string): Backend {
  return {
    name: `${kind}:${command}`,
    async execute(stage, frame, { text }) {
      const { run, node, promptHistory } = stage;
      const { model = '', provider = '', effort } = modelSettingsOf(run.pipeline.graph, node);
      const variables = {
        MLLD_MODEL: model,
        MLLD_PROVIDER: provider,
        MLLD_REASONING_EFFORT: effort,
        MLLD_FIDELITY: promptHistory.fidelity.mode,
        MLLD_THREAD: promptHistory.thread ?? '',
      };
      const result = await runStageCommand(stage, frame, command, { variables, stdin: text });
      if (stage.signal.aborted) throw new StageError('transient', 'the command was ended');
      const report = await readStatusReport(stage, frame);
      const reply = withoutLineEnds(result.stdout);
      // A failing command is never a success; its file may only choose between failing and a retry.
      if (result.exitCode !== 0 && report?.status !== 'fail' && report?.status !== 'retry') throw commandFailed(result);
      const outcome = report ?? (kind === 'worker' ? missingReport(stage) : undefined);
      return outcome ? { reply, outcome } : { reply };
    },
  };
}
