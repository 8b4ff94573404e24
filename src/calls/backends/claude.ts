/** The command line of Claude Code. */
import { option, type ModelProgram } from './program.js';

export const claude: ModelProgram = {
  name: 'claude',
  lacks: [],
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
