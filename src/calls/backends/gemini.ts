/** The command line of the Gemini CLI. The effort follows from the model. */
import { option, type ModelProgram } from './program.js';

export const gemini: ModelProgram = {
  name: 'gemini',
  lacks: ['effort'],
  agents: { words: () => [] },
  words: ({ model, session, tools, words = [] }) => [
    'gemini',
    '-o',
    'json',
    ...option('-m', model),
    ...option('--resume', session),
    ...option('--allowed-tools', tools?.join(',')),
    ...words,
  ],
};
