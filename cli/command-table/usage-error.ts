/** Words commander's errors as ours: a sentence that names the command or the option, and a hint with a line that works. */
import type { Command, CommanderError } from 'commander';
import { closest } from '../../grammar/closest.js';
import { MlldError } from '../../src/errors.js';

interface Wording {
  readonly pattern: RegExp;
  readonly message: (words: readonly string[], command: string) => string;
}

/** Each pattern is a message of the version of commander that is installed; `test/cli/program/usage-errors.test.ts` holds them. */
const WORDINGS: readonly Wording[] = [
  { pattern: /^missing required argument '(.+)'$/, message: ([argument], command) => `<${argument}> is required by ${command}` },
  { pattern: /^required option '(.+)' not specified$/, message: ([option], command) => `${option} is required by ${command}` },
  { pattern: /^unknown option '(.+)'$/, message: ([option], command) => `${command} has no option ${option}` },
  { pattern: /^unknown command '(.+)'$/, message: ([word], command) => `There is no command "${command.replace(/^mlld /, '')} ${word}"` },
  { pattern: /^option '(.+)' argument missing$/, message: ([option]) => `${option} needs a value` },
  {
    pattern: /^option '(?:-\w, )?(--[\w-]+).*' argument '([^]*)' is invalid\. ([^]*)$/,
    message: ([option, value, reason = '']) => `${option} ${value}: ${allowed(reason)}`,
  },
  {
    pattern: /^command-argument value '([^]*)' is invalid for argument '(.+)'\. ([^]*)$/,
    message: ([value, argument, reason = '']) => `<${argument}> can't be ${value}: ${allowed(reason)}`,
  },
  {
    pattern: /^too many arguments.*\. Expected (\d+) arguments? but got (\d+)\.$/,
    message: ([expected, got], command) => `${command} takes ${expected === '1' ? '1 argument' : `${expected} arguments`}, not ${got}`,
  },
];

/** Flags that other forms of a command have: what to do here, by the words of the user. */
const INSTEAD: { readonly [flag: string]: string } = {
  'mlld run FILE.dot --changed':
    'a run with --checkpoint says which replies it reused from before an edit; --resume NODE executes that node and what follows again',
};

export function usageError({ message }: CommanderError, command: Command, example = ''): MlldError {
  const name = nameOf(command);
  const [, text = message, near = misspelt(command)] = /^(?:error: )?([^]*?)(?:\n\(Did you mean (.+)\?\))?$/.exec(message) ?? [];
  const [, flag] = /^unknown option '(.+)'$/.exec(text) ?? [];
  const instead = INSTEAD[`${name} ${flag}`];
  if (instead !== undefined) return new MlldError('USAGE', worded(text, name), { hint: instead });
  const hint =
    near !== undefined ? `did you mean ${near}?` : `${example === '' ? '' : `for example: ${example}; `}${name} --help explains it`;
  return new MlldError('USAGE', worded(text, name), { hint });
}

/** `mlld worker statu`: a command that works by itself takes the word for an argument. */
function misspelt({ args: [word], commands }: Command): string | undefined {
  if (word === undefined) return undefined;
  return closest(
    word,
    commands.map((command) => command.name()),
  );
}

function worded(text: string, command: string): string {
  for (const { pattern, message } of WORDINGS) {
    const found = pattern.exec(text);
    if (found !== null) return message(found.slice(1), command);
  }
  return text;
}

function allowed(reason: string): string {
  const choices = /^Allowed choices are (.+)\.$/.exec(reason)?.[1];
  return choices === undefined ? reason : `it must be ${choices.replace(/, ([^,]+)$/, ' or $1')}`;
}

/** Returns `mlld journal show`: the words that a user writes. */
function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}
