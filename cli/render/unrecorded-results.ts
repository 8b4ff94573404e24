/** Returns the last line of a run that failed after paying for results that were not recorded: how to record them next time. */
import type { Execution } from '../commands/run-script.js';
import { recordingArguments } from '../options/run-request.js';
import { shellWords } from './shell-words.js';

export function renderUnrecorded(count: number, { form, argv, script }: Pick<Execution, 'form' | 'argv' | 'script'>): string {
  const lost = count === 1 ? '1 result of an llm call was not recorded' : `${count} results of llm calls were not recorded`;
  if (script.kind === 'text') return `${lost}; a script in a file keeps them: mlld FILE.mld --checkpoint\n`;
  const command = shellWords(['mlld', ...(form === 'run' ? ['run'] : []), ...recordingArguments(argv, form)]);
  return `${lost}; --checkpoint keeps them: ${command}\n`;
}
