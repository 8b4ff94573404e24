/** The command line of opencode. Its agents decide about tools, so that it has no option for single ones. */
import { option, type ModelProgram, type ProgramCall } from './program.js';

export const opencode: ModelProgram = {
  name: 'opencode',
  lacks: ['tools'],
  agents: { takesType: true, words: ({ agentType }) => option('--agent', agentType) },
  words: ({ effort, session, words = [], ...call }) => [
    'opencode',
    'run',
    '--format',
    'json',
    ...option('-m', modelName(call)),
    ...option('--variant', effort),
    ...option('-s', session),
    ...words,
  ],
};

/** opencode names models `PROVIDER/MODEL`. */
function modelName({ model, provider }: ProgramCall): string | undefined {
  if (model === undefined || provider === undefined || model.includes('/')) return model;
  return `${provider}/${model}`;
}
