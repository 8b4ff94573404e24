/** The command line of Claude Code. */
import { option, type ModelProgram } from './program.js';

export const claude: ModelProgram = {
  name: 'claude',
  lacks: [],
  agents: {
    takesType: true,
    takesSchema: true,
    words: ({ agentType, schema }) => [
      '--no-session-persistence',
      ...option('--agent', agentType),
      ...option('--json-schema', schema),
      ...option('--append-system-prompt', 'Your final message is returned to a program as it is: say nothing but the answer.'),
    ],
  },
  words: ({ model, effort, session, tools, words = [] }) => [
    'claude',
    '-p',
    '--output-format',
    'json',
    ...option('--model', model),
    ...option('--effort', effort),
    ...option('--resume', session),
    ...option('--allowedTools', tools?.join(',')),
    ...words,
  ],
};
