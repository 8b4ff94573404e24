/** Executes model calls by a program that reads the text on its standard input and writes the reply to its standard output. */
import { modelSettingsOf } from '../model/graph.js';
import { StageError } from '../model/outcome.js';
import { missingReport } from '../stage/status-report.js';
import { readStageReply, reported } from '../stage/read-reply.js';
import { runStageCommand, withoutLineEnds } from '../stage/run-stage-command.js';
import type { Backend } from '../stage/backend.js';
import type { Stage } from '../stage/stage.js';

/** @param kind a `worker` has to leave a status file; a `cmd` may */
export function commandBackend(kind: 'cmd' | 'worker', command: string): Backend {
  return {
    name: `${kind}:${command}`,
    commandLine: command,
    async execute(stage, frame, { text }) {
      const result = await runStageCommand(stage, frame, command, { variables: modelVariables(stage), stdin: text });
      if (stage.signal.aborted) throw new StageError('transient', 'the command was ended');
      const { report } = await readStageReply(stage, frame, result, { commandLine: command });
      const reply = withoutLineEnds(result.stdout);
      const outcome = report ?? (kind === 'worker' ? await reported(() => missingReport(stage)) : undefined);
      return outcome ? { reply, outcome } : { reply };
    },
  };
}

/** Returns what the environment of a model command says about its stage. */
export function modelVariables({ run, node, promptHistory }: Stage): { readonly [name: string]: string } {
  const { model = '', provider = '', effort } = modelSettingsOf(run.pipeline.graph, node);
  return {
    MLLD_MODEL: model,
    MLLD_PROVIDER: provider,
    MLLD_REASONING_EFFORT: effort,
    MLLD_FIDELITY: promptHistory.fidelity.mode,
    MLLD_THREAD: promptHistory.thread ?? '',
  };
}
