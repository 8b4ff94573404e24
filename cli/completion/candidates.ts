/**
 * Finds what the word under the cursor can become: a command, a flag, one of the values that the table lists, or a name of the project.
 * What the table does not know is left to the shell.
 */
import { COMMANDS, COMMAND_ROWS, PROGRAM } from '../command-table/commands.js';
import { RUN_PIPELINE } from '../command-table/pipelines.js';
import { WORKFLOW_FLAGS } from '../command-table/workflow-flags.js';
import { dashed, type ArgumentRow, type CommandRow, type Completion, type FlagRow } from '../command-table/rows.js';

export interface Candidate {
  readonly text: string;
  /** One line about it. */
  readonly about?: string;
}

/** The word being typed, and the arguments before it. */
export interface Typed {
  /** The word itself: candidates begin with it. */
  readonly word: string;
  /** Arguments before it, without flags. */
  readonly arguments: readonly string[];
}

/** Looks names up in the project. */
export type FindNames = (what: Completion, typed: Typed) => Promise<readonly Candidate[]>;

/** `words` are those behind `mlld`; the last one is being typed. */
export async function candidates(words: readonly string[], findNames: FindNames): Promise<readonly Candidate[]> {
  const typing = words.at(-1) ?? '';
  const { row, rest } = commandOf(words.slice(0, -1));
  const { flag, arguments: given, onlyData } = readWords(rest, row);
  const found = async (): Promise<readonly Candidate[]> => {
    if (onlyData) return [];
    const inline = /^(--[^=]+=)(.*)$/s.exec(typing);
    if (inline !== null) {
      const [, head = '', value = ''] = inline;
      const meant = flagNamed(head.slice(0, -1), row);
      return (await valuesOf(meant, { word: value, arguments: given }, findNames)).map((each) => ({ ...each, text: head + each.text }));
    }
    if (flag !== undefined && (flag.value === 'required' || !typing.startsWith('-'))) {
      const values = await valuesOf(flag, { word: typing, arguments: given }, findNames);
      if (flag.value === 'required' || values.length > 0) return values;
    }
    if (typing.startsWith('-')) return flagsOf(row);
    return argumentsOf(words.slice(0, -1), row, { word: typing, arguments: given }, findNames);
  };
  return (await found()).filter(({ text }) => text.startsWith(typing) && text !== '');
}

interface Meant {
  readonly row: CommandRow;
  /** The words behind those of the command. */
  readonly rest: readonly string[];
}

function commandOf(words: readonly string[]): Meant {
  const [first, second] = words;
  if (first === undefined) return { row: PROGRAM, rest: [] };
  if (first === 'help') return { row: { does: '', examples: [] }, rest: words };
  if (first === 'run' && words.slice(1).some(isPipeline)) return { row: RUN_PIPELINE, rest: words.slice(1) };
  if (first === 'run' && words.slice(1).some(isWorkflow)) return { row: RUN_WORKFLOW, rest: words.slice(1) };
  const inner = COMMAND_ROWS.find(([name]) => name === `${first} ${second}`);
  if (inner !== undefined) return { row: inner[1], rest: words.slice(2) };
  const outer = COMMAND_ROWS.find(([name, row]) => name === first || row.alias === first);
  if (outer !== undefined) return { row: outer[1], rest: words.slice(1) };
  return isPipeline(first) ? { row: RUN_PIPELINE, rest: words } : { row: PROGRAM, rest: words };
}

const RUN_WORKFLOW: CommandRow = { ...COMMANDS.run, flags: WORKFLOW_FLAGS };

function isWorkflow(word: string): boolean {
  return /\.m?js$/.test(word);
}

function isPipeline(word: string): boolean {
  return word.endsWith('.dot');
}

/** `flag` is one whose value comes next. Behind `--` every word is data of the script. */
function readWords(words: readonly string[], row: CommandRow) {
  const given: string[] = [];
  let flag: FlagRow | undefined;
  for (const word of words) {
    if (word === '--') return { flag: undefined, arguments: given, onlyData: true };
    const isValue = flag !== undefined && (flag.value === 'required' || !word.startsWith('-'));
    flag = isValue ? undefined : flagNamed(word, row);
    if (flag?.value === 'none') flag = undefined;
    if (!isValue && !word.startsWith('-')) given.push(word);
  }
  return { flag, arguments: given, onlyData: false };
}

function flagNamed(written: string, { flags = [] }: CommandRow): FlagRow | undefined {
  return flags.find((row) => [...row.flags, ...(row.alsoFlags ?? [])].some((spelling) => dashed(spelling) === written));
}

function flagsOf({ flags = [] }: CommandRow): readonly Candidate[] {
  const own = flags.flatMap(({ flags: spellings, does }) =>
    does === undefined
      ? []
      : spellings.filter((spelling) => spelling.length > 1).map((spelling) => ({ text: dashed(spelling), about: does })),
  );
  return [...own, { text: '--help', about: 'print the help of this command' }];
}

async function valuesOf(flag: FlagRow | undefined, typed: Typed, findNames: FindNames): Promise<readonly Candidate[]> {
  if (flag?.choices !== undefined) return flag.choices.map((text) => ({ text }));
  return flag?.completes === undefined ? [] : findNames(flag.completes, typed);
}

async function argumentsOf(before: readonly string[], row: CommandRow, typed: Typed, findNames: FindNames): Promise<readonly Candidate[]> {
  if (before.length === 0) return [...commandsBelow(''), ...(await findNames({ files: ['.mld', '.mld.md', '.dot'] }, typed))];
  if (before[0] === 'help') return commandsBelow(before.slice(1).join(' '));
  const below = before.length === 1 ? commandsBelow(before.join(' ')) : [];
  if (below.length > 0) return below;
  const argument: ArgumentRow | undefined = row.arguments?.[typed.arguments.length];
  if (argument?.choices !== undefined) return argument.choices.map((text) => ({ text }));
  return argument?.completes === undefined ? [] : findNames(argument.completes, typed);
}

/** The commands whose last word comes behind these words. */
function commandsBelow(words: string): readonly Candidate[] {
  const head = words === '' ? '' : `${words} `;
  return Object.entries<CommandRow>(COMMANDS)
    .filter(([name]) => name.startsWith(head) && !name.slice(head.length).includes(' '))
    .map(([name, { does }]) => ({ text: name.slice(head.length), about: does }));
}
