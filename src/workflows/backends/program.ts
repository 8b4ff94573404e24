/** Asks a known model program: its command line is made of words, and its adapter reads the reply. workflows-js.md 9. */
import type { ModelProgram } from '../../calls/backends/program.js';
import { AttemptFailed } from '../../runtime/calls/call-failure.js';
import type { AgentBackend } from './backend.js';
import { runAgentCommand } from './command.js';

/** @param further words of the user, behind those of the call */
export function programBackend(program: ModelProgram, further: readonly string[]): AgentBackend {
  const { name, agents } = program;
  return {
    name: [name, ...further].join(' '),
    program: name,
    ...(agents.takesSchema && { takesSchema: true }),
    async ask(frame, attempt) {
      const { agentType, schema, effort } = attempt.request;
      const { model, definition, prompt } = attempt;
      const isTypeLost = agentType !== undefined && !agents.takesType && definition === undefined;
      if (isTypeLost && frame.run.calls?.isFirst(`agentType ${agentType} ${name}`))
        frame.run.warn(`${name} has no option for agentType, and there is no .claude/agents/${agentType}.md`);
      const lacksEffort = program.lacks.includes('effort');
      const before = agents.takesType || definition === undefined ? '' : `${definition.trim()}\n\n`;
      const thinking = lacksEffort && effort !== undefined ? `(Effort of thought: ${effort}.)\n\n` : '';
      const { read } = await runAgentCommand(frame, attempt, (schemaFile) => {
        const words = agents.words({ agentType, schema: schema && JSON.stringify(schema), schemaFile });
        const command = program.words({ model, effort: lacksEffort ? undefined : effort, words: [...words, ...further] });
        return { command, stdin: `${before}${thinking}${prompt}`, adapter: name };
      });
      if (schema && read.data !== undefined) return { data: read.data };
      if (read.text === undefined && read.data === undefined)
        throw new AttemptFailed({ class: 'bad-reply', evidence: 'envelope', message: `${name} gave no reply` });
      return { text: read.text ?? JSON.stringify(read.data) };
    },
  };
}
