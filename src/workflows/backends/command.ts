/** Asks a command of the user: the prompt is on its standard input, the rest in its environment. workflows-js.md 9. */
import { performEffect } from '../../operation/perform-effect.js';
import type { Frame } from '../../runtime/frame.js';
import type { AgentAttempt, AgentBackend } from './backend.js';
import { runAgentCommand } from './run-agent-command.js';

export function commandBackend(command: string): AgentBackend {
  return {
    name: `cmd:${command}`,
    async ask(frame, attempt) {
      return withSchemaFile(frame, attempt, async (schemaFile) => {
        const { printed } = await runAgentCommand(frame, attempt, { command, stdin: attempt.prompt, schemaFile });
        return { text: printed.replace(/[\r\n]+$/, '') };
      });
    },
  };
}

/** Writes the schema of a call to a file for as long as `work` takes. */
export async function withSchemaFile<T>(
  frame: Frame,
  { request: { schema } }: AgentAttempt,
  work: (file: string | undefined) => Promise<T>,
): Promise<T> {
  const { reportFiles } = frame.run.calls ?? {};
  const file = schema && reportFiles?.create();
  if (file === undefined) return work(undefined);
  try {
    await performEffect(frame, 'file.write', { path: file, text: JSON.stringify(schema) });
    return await work(file);
  } finally {
    reportFiles?.take(file);
  }
}
