/** The first words that name a command; any other first word names a file. `bin.ts` loads this, so it imports nothing. */

/** Commands whose words commander parses; `mlld run` and `mlld FILE` parse their own. */
const PARSED_COMMANDS = [
  'init',
  'docs',
  'validate',
  'analyze',
  'checkpoint',
  'journal',
  'graph',
  'modules',
  'store',
  'worker',
  'answer',
  'serve',
  'lsp',
  'completion',
  'help',
] as const;

/** Called by the scripts of `mlld completion` and not by people, so it is neither shown nor suggested. */
export const COMPLETE = 'complete';

export const COMMAND_NAMES = ['run', ...PARSED_COMMANDS] as const;

const PARSED: ReadonlySet<string> = new Set([...PARSED_COMMANDS, '--help', '-h']);

/** Also returns true for the flags that print the help of the whole program. */
export function isParsedCommand(word: string | undefined): word is string {
  return word !== undefined && PARSED.has(word);
}
