/** Runs a command of a stage: a tool, a tool hook, or a program that executes model calls. graph-pipelines.md 7.3, 7.7. */
import { performEffect } from '../../operation/perform-effect.js';
import type { Frame } from '../../runtime/frame.js';
import type { CommandResult } from '../../world/world.js';
import type { Stage } from './stage.js';
import { commandOf } from '../../calls/backends/programs.js';
import { shortened } from '../../values/shortened.js';
import { StageError, type Updates } from '../model/outcome.js';

/**
 * Runs a shell command, or the words of a program, in the run's working directory and in a process group of its own; without `stdin` the
 * input is empty.
 */
export async function runStageCommand(
  stage: Stage,
  frame: Frame,
  command: string | readonly string[],
  { variables = {}, stdin }: { readonly variables?: { readonly [name: string]: string }; readonly stdin?: string } = {},
): Promise<CommandResult> {
  const { run, folder, context } = stage;
  folder.write('context.json', `${JSON.stringify(context, undefined, 2)}\n`);
  await folder.settled();
  const request = {
    ...commandOf(command),
    directory: run.workingDirectory,
    variables: { ...stageVariables(stage), ...variables },
    ...(stdin === undefined ? {} : { stdin }),
  };
  // The output enters the context, which is kept in clear.
  return performEffect(frame, 'command.run', request, { values: [], hides: run.secretSettings });
}

/** Returns the error for a status other than 0; it is permanent when the shell could not run the program (126, 127). */
export function commandFailed({ exitCode, stderr, stdout }: CommandResult, updates: Updates = {}): StageError {
  const last = lastLine(stderr) || lastLine(stdout); // many programs say on standard output why they failed
  const reason = `the command ended with status ${exitCode}${last === '' ? '' : `: ${last}`}`;
  return new StageError(exitCode === 126 || exitCode === 127 ? 'permanent' : 'transient', reason, updates);
}

function lastLine(text: string): string {
  return shortened(text.trimEnd().split('\n').at(-1)?.trim() ?? '', REASON_UNITS);
}

const REASON_UNITS = 500;

export function withoutLineEnds(text: string): string {
  return text.replace(/[\r\n]+$/, '');
}

function stageVariables({ run, node, visit, attempt, folder }: Stage): { readonly [name: string]: string } {
  return {
    MLLD_RUN_ID: run.ledger.state.runId ?? '',
    MLLD_RUN_DIR: run.folder.path,
    MLLD_NODE_ID: node.id,
    MLLD_VISIT: String(visit),
    MLLD_ATTEMPT: String(attempt),
    MLLD_GOAL: run.pipeline.goal,
    MLLD_STAGE_DIR: folder.path,
    MLLD_STATUS_FILE: folder.statusFile,
    MLLD_CONTEXT_FILE: folder.contextFile,
  };
}
