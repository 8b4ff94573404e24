/** Handles a tool stage, which runs a shell command. graph-pipelines.md 7.7. */
import { INLINE_BYTES_MAX, outputId } from '../stage/artifacts.js';
import { truncate } from '../stage/truncate.js';
import { nodeAttribute } from '../model/graph.js';
import { outcomeOf, StageError, type Updates } from '../model/outcome.js';
import { commandFailed, runStageCommand, withoutLineEnds } from '../stage/run-stage-command.js';
import type { Stage } from '../stage/stage.js';
import type { Handler } from './handler.js';

const HEAD_CODE_POINTS = 1_000;

export const tool: Handler = {
  isTimed: true,
  mayReport: true,
  async handle(stage) {
    const command = nodeAttribute(stage.node, 'tool_command') ?? '';
    if (command.trim() === '') throw new StageError('permanent', `${stage.node.id} has no command: set its attribute tool_command`);
    const result = await runStageCommand(stage, stage.frame, command);
    stage.folder.write('stdout.txt', result.stdout);
    stage.folder.write('stderr.txt', result.stderr);
    const updates = { ...(await outputUpdates(stage, result.stdout)), 'tool.exit_code': result.exitCode };
    if (result.exitCode !== 0) throw commandFailed(result, updates);
    return outcomeOf('success', { context_updates: updates });
  },
};

async function outputUpdates(stage: Stage, stdout: string): Promise<Updates> {
  if (Buffer.byteLength(stdout) <= INLINE_BYTES_MAX) return { 'tool.output': withoutLineEnds(stdout) };
  const id = outputId(stage, 'output');
  await stage.artifacts.store(id, 'output', stdout);
  return { 'tool.output': truncate(stdout, HEAD_CODE_POINTS), 'tool.output_artifact': id };
}
