/** Asks a known model program: its command line is made of words, and its adapter reads the reply. workflows-js.md 9. */
import type { ModelProgram } from '../../calls/backends/program.js';
import { AttemptFailed } from '../../runtime/calls/call-failure.js';
import type { AgentAttempt, AgentBackend } from './backend.js';
import { withSchemaFile } from './command.js';
import { runAgentCommand } from './run-agent-command.js';

/** @param further words of the user, behind those of the call */
export function programBackend(program: ModelProgram, further: readonly string[]): AgentBackend {
  const { name, agents } = program;
  return {
    name: [name, ...further].join(' '),
    program: name,
    ...(agents.takesSchema && { takesSchema: true }),
    async ask(frame, attempt) {
      return withSchemaFile(frame, attempt, async (schemaFile) => {
        const { request, model, effort, definition } = attempt;
        warnOfLosses(program, attempt);
        const words = program.words({
          model,
          effort: program.lacks.includes('effort') ? undefined : effort,
          words: [
            ...agents.words({
              agentType: request.agentType,
              schema: request.schema && JSON.stringify(request.schema),
              schemaFile,
            }),
            ...further,
          ],
        });
        const before = agents.takesType || definition === undefined ? '' : `${definition.trim()}\n\n`;
        const thinking = program.lacks.includes('effort') && effort !== undefined ? `(Effort of thought: ${effort}.)\n\n` : '';
        const { read } = await runAgentCommand(frame, attempt, {
          command: words,
          stdin: `${before}${thinking}${attempt.prompt}`,
          adapter: name,
          schemaFile,
        });
        if (request.schema && read.data !== undefined) return { data: read.data };
        if (read.text === undefined && read.data === undefined)
          throw new AttemptFailed({ class: 'bad-reply', evidence: 'envelope', message: `${name} gave no reply` });
        return { text: read.text ?? JSON.stringify(read.data) };
      });
    },
  };
}

function warnOfLosses({ name, agents }: ModelProgram, { request, definition, warn }: AgentAttempt): void {
  if (request.agentType !== undefined && !agents.takesType && definition === undefined)
    warn(`agentType ${request.agentType}`, `${name} has no option for agentType, and there is no .claude/agents/${request.agentType}.md`);
}
