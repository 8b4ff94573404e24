/** A program that stands for a model: the text on its standard input, the reply on its standard output. */
import { modelSettingsOf } from '../model/graph.js';
import { StageError } from '../model/outcome.js';
import { readStatusReport, missingReport } from '../stage/status-report.js';
import { commandFailed, runStageCommand, withoutLineEnds } from '../stage/run-stage-command.js';
import type { Backend } from './select-backend.js';

/** A `worker` has to report through the status file; the other kind may. */
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
      const answer = await runStageCommand(stage, frame, command, { variables, stdin: text });
      if (stage.signal.aborted) throw new StageError('transient', 'the command was ended');
      const report = await readStatusReport(stage, frame);
      const reply = withoutLineEnds(answer.stdout);
      // A failing command is never a success; its file may only choose between failing and asking again.
      if (answer.exitCode !== 0 && report?.status !== 'fail' && report?.status !== 'retry') throw commandFailed(answer);
      const outcome = report ?? (kind === 'worker' ? missingReport(stage) : undefined);
      return outcome ? { reply, outcome } : { reply };
    },
  };
}
