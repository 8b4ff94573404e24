/** Runs the commands that commander parses, and prints help. Commands and flags come from the table. */
import type { Command } from 'commander';
import { MlldError } from '../src/errors.js';
import { closest } from '../grammar/closest.js';
import { ACTIONS } from './commands/actions.js';
import { EXIT_OK } from './exit-codes.js';
import { COMMAND_ROWS, COMMANDS, PROGRAM, type ParsedCommand } from './command-table/commands.js';
import { NO_PAGER_FLAG, TOOLS_GROUP, type CommandRow, type FlagRow } from './command-table/rows.js';
import { attached, toCommand, withCommander } from './command-table/to-commander.js';
import type { Io } from './terminal/io.js';

/** Resolves to the exit status. Throws what the command throws. */
export async function runProgram(io: Io): Promise<number> {
  const words = io.argv.filter((word) => word !== '--debug'); // for the renderer of errors, on every command
  let status = EXIT_OK;
  const program = programFor(io, (found) => (status = found));
  if (words.includes('--help') || words.includes('-h')) refuseUnknownCommand(program, words);
  return withCommander(async () => {
    await program.parseAsync(words[0] === 'help' ? helpAbout(program, words.slice(1)) : words, { from: 'user' });
    return status;
  });
}

/** Prints the help of `mlld run`, or of the whole program. */
export function printHelp(io: Io, name?: 'run'): void {
  const program = programFor(io, () => undefined);
  (program.commands.find((candidate) => candidate.name() === name) ?? program).outputHelp();
}

/** The help of `mlld run` has the others. */
const OWN_FLAGS = (PROGRAM.flags ?? [])
  .filter(({ form, flags: [name] }) => form === 'file' || name === 'version')
  .map(({ group: _title, ...flag }) => flag);

function programFor(io: Io, onStatus: (status: number) => void): Command {
  // A flag behind a command is the command's, also where `mlld FILE` has one of the same name.
  const program = attached(toCommand('mlld', { ...PROGRAM, flags: OWN_FLAGS }), PROGRAM, io)
    .enablePositionalOptions()
    .configureHelp({ subcommandTerm: (command) => command.name() });
  withHelp(program, TOOLS_GROUP);
  for (const [words, row] of COMMAND_ROWS) {
    const [first = '', second] = words.split(' ');
    const parent = second === undefined ? program : (program.commands.find((group) => group.name() === first) ?? program);
    const command = attached(toCommand(second ?? first, row).copyInheritedSettings(parent), row, io);
    if (second === undefined && !isParsed(words) && words !== 'run') withHelp(command, 'Commands:');
    if (isParsed(words)) command.action((...given: unknown[]) => act(words, io, given).then(onStatus));
    parent.addCommand(command);
  }
  return program;
}

function withHelp(command: Command, group: string): void {
  command.commandsGroup(group).helpCommand('help [command]', 'print the help of a command');
}

function isParsed(words: keyof typeof COMMANDS): words is ParsedCommand {
  return words in ACTIONS;
}

/** `given` are the arguments, the flags and the command, as commander hands them over. */
async function act(words: ParsedCommand, io: Io, given: readonly unknown[]): Promise<number> {
  // Commander has checked the words by the table.
  const action = (await ACTIONS[words]()) as (io: Io, ...words: unknown[]) => Promise<number | undefined>;
  const call = async (to: Io): Promise<number> => (await action(to, ...given.slice(0, -1))) ?? EXIT_OK;
  return isPaged(words, given.at(-2) as GivenFlags) && io.page !== undefined
    ? (await import('./terminal/pager.js')).withPager(io, call)
    : call(io);
}

interface GivenFlags {
  /** False with `--no-pager`. */
  readonly pager?: boolean;
  readonly follow?: true;
}

/** A pager waits for the end of the report, and a command that follows a run has none. */
function isPaged(words: ParsedCommand, { pager, follow }: GivenFlags): boolean {
  const flags: readonly FlagRow[] = (COMMANDS[words] as CommandRow).flags ?? [];
  return flags.includes(NO_PAGER_FLAG) && pager !== false && follow !== true;
}

/** Commander's own `help` looks one level deep, and accepts a word that names no command. Throws USAGE. */
function helpAbout(program: Command, words: readonly string[]): readonly string[] {
  words.reduce(commandNamed, program);
  return [...words, '--help'];
}

/** Commander prints the help of a group for a word behind it that names no command. Throws USAGE. */
function refuseUnknownCommand(program: Command, words: readonly string[]): void {
  let command = program;
  for (const word of words) {
    if (word.startsWith('-') || command.commands.length === 0 || word === 'help') return;
    command = commandNamed(command, word);
  }
}

function commandNamed(parent: Command, word: string): Command {
  const found = parent.commands.find((candidate) => candidate.name() === word || candidate.aliases().includes(word));
  if (found !== undefined) return found;
  const near = closest(
    word,
    parent.commands.map((candidate) => candidate.name()),
  );
  throw new MlldError('USAGE', `There is no command "${word}"`, { hint: near === undefined ? 'mlld help' : `did you mean ${near}?` });
}
