/** Asks a command of the user: the prompt is on its standard input, the rest in its environment. workflows-js.md 9. */
import type { AgentBackend } from './backend.js';
import { runAgentCommand } from './run-agent-command.js';

export function commandBackend(command: string): AgentBackend {
  return {
    name: `cmd:${command}`,
    async ask(frame, attempt) {
      const { printed } = await runAgentCommand(frame, attempt, () => ({ command, stdin: attempt.prompt }));
      return { text: printed.replace(/[\r\n]+$/, '') };
    },
  };
}
