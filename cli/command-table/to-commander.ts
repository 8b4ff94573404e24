/** Makes commander's commands, and the help that they print, from the table. */
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { EXIT_FAILED, EXIT_OK } from '../exit-codes.js';
import type { Io } from '../terminal/io.js';
import { dashed, InvalidValue, type ArgumentRow, type CommandRow, type FlagRow } from './rows.js';
import { usageError } from './usage-error.js';

export function toCommand(
  name: string,
  { does, short, group, alias, usage, arguments: words = [], flags = [], otherFlags, examples, exits }: CommandRow,
): Command {
  const command = new Command(name).description(does);
  if (short !== undefined) command.summary(short);
  if (group !== undefined) command.helpGroup(group);
  if (alias !== undefined) command.alias(alias);
  if (usage !== undefined) command.usage(usage);
  for (const word of words) if (usage === undefined) command.addArgument(toArgument(word));
  for (const flag of flags) if (flag.does !== undefined) command.addOption(toOption(flag, flag.does));
  for (const flag of otherFlags?.flags ?? []) command.addOption(toOption(flag, flag.does ?? '').helpGroup(otherFlags?.title ?? ''));
  return command.addHelpText('after', helpAfter(examples, exits));
}

/** Resolves to the exit status, also where commander printed help instead of running a command. Throws USAGE for its other errors. */
export async function withCommander(work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_OK : EXIT_FAILED;
    throw error;
  }
}

/** Makes commander throw instead of ending the process or printing an error, and write where the command writes. */
export function attached(command: Command, { examples }: CommandRow, io: Io): Command {
  return command
    .exitOverride((error) => {
      throw error.code.startsWith('commander.help') ? error : usageError(error, command, examples[0]);
    })
    .configureOutput({ writeOut: io.stdout, writeErr: io.stderr, outputError: () => undefined });
}

function toArgument({ written, does, choices }: ArgumentRow): Argument {
  const argument = new Argument(written, does);
  return choices === undefined ? argument : argument.choices(choices);
}

function toOption(flag: FlagRow, does: string): Option {
  const option = new Option(writtenFlag(flag), does);
  const { choices, written = '', parse, mandatory, default: byDefault, group } = flag;
  if (group !== undefined) option.helpGroup(group);
  // A placeholder that lists the choices is enough: commander would write them behind the text once more.
  if (choices !== undefined && !written.includes('|')) option.choices(choices);
  if (parse !== undefined) option.argParser((text, earlier) => parsed(() => parse(text, earlier)));
  if (byDefault !== undefined) option.default(byDefault);
  return mandatory === true ? option.makeOptionMandatory() : option;
}

/** Commander writes which flag it was before the reason, but only for errors of its own. */
function parsed(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    throw error instanceof InvalidValue ? new InvalidArgumentError(error.message) : error;
  }
}

/** `-o, --output <file>`: short spellings come first. */
function writtenFlag({ flags, value, written = 'value' }: FlagRow): string {
  const spellings = [...flags].sort((left, right) => Number(left.length > 1) - Number(right.length > 1));
  const shown = spellings.map(dashed).join(', ');
  if (value === 'none') return shown;
  return `${shown} ${value === 'required' ? `<${written}>` : `[${written}]`}`;
}

const USUAL_EXITS = { 0: 'success', 1: 'an error' } as const;

function helpAfter(examples: readonly string[], exits: CommandRow['exits']): string {
  const shown = `\nExamples:\n${linesOf(examples)}`;
  if (exits === undefined) return shown;
  const meanings = Object.entries({ ...USUAL_EXITS, ...Object.fromEntries(exits) });
  return `${shown}\nExit status:\n${linesOf(meanings.map(([status, meaning]) => status.padEnd(5) + meaning))}`;
}

function linesOf(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}\n`).join('');
}
