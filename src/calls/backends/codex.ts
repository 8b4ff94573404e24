/** The command line of Codex. Its sandbox decides about tools, so that it has no option for single ones. */
import { option, type ModelProgram } from './program.js';

export const codex: ModelProgram = {
  name: 'codex',
  lacks: ['tools'],
  agents: { takesSchema: true, words: ({ schemaFile }) => ['--ephemeral', ...option('--output-schema', schemaFile)] },
  words: ({ model, effort, session, words = [] }) => [
    'codex',
    'exec',
    '--json',
    ...option('-m', model),
    ...option('-c', effort && `model_reasoning_effort=${effort}`),
    ...words,
    ...option('resume', session),
    '-', // the prompt is on standard input
  ],
};
