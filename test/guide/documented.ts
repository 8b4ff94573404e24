/** Finds the commands of README, of the documents and of the help, as a reader would copy them. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';

import { COMPLETE } from '../../cli/command-table/command-names.js';
import { COMMAND_ROWS, PROGRAM } from '../../cli/command-table/commands.js';
import { dashed } from '../../cli/command-table/rows.js';
import { runFlags, spellingsOf } from '../../cli/command-table/run-flags.js';
import { RUN_PIPELINE } from '../../cli/command-table/pipelines.js';
import { PROJECT } from '../support/source-files.js';

/** Returns each command once, with the place where it was found first. */
export function documentedCommands(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const add = (command: string, where: string): void => {
    if (!found.has(command)) found.set(command, where);
  };
  for (const page of ['README.md', ...globSync('docs/*.md', { cwd: PROJECT }).sort()])
    for (const command of commandsIn(readFileSync(path.join(PROJECT, page), 'utf8'))) add(command, page);
  for (const { examples } of [PROGRAM, RUN_PIPELINE, ...COMMAND_ROWS.map(([, row]) => row)])
    for (const example of examples) add(example, 'help');
  return found;
}

/**
 * The lines of fences that call `mlld`, behind variables or a `cd` too, without the remark behind a `#`. What stands behind `$ ` is played
 * with its output.
 */
export function commandsIn(page: string): string[] {
  const fences = [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)];
  return fences
    .flatMap(([, language = '', inside = '']) => (['', 'sh', 'fish'].includes(language) ? inside.split('\n') : []))
    .map((line) => line.replace(/\s+# .*$/, ''))
    .filter((line) => CALLS_MLLD.test(line));
}

const CALLS_MLLD = /^(?:cd [a-z]+ && |[A-Z_]+=(?:'[^']*'|\$\([^)]*\)|\S+) )*mlld /;

/** Returns each command that stands in a sentence or a table, as `mlld run NAME --resume`, once, with its page. */
export function mentionedCommands(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const page of ['README.md', ...globSync('docs/{,guide/}*.md', { cwd: PROJECT }).sort()]) {
    const prose = readFileSync(path.join(PROJECT, page), 'utf8').replace(/^```[\s\S]*?^```$/gm, '');
    for (const [, command = ''] of prose.matchAll(/`(mlld [^`]+)`/g)) found.set(command.replace(/\s+/g, ' '), page);
  }
  return found;
}

const ROWS = new Map(COMMAND_ROWS.map(([words, row]) => [words as string, row]));
/** The commands whose second word is a command, too. */
const GROUPS = new Set([...ROWS.keys()].filter((words) => words.includes(' ')).map((words) => words.split(' ')[0] as string));

/** Returns the first word that is no command, or flag that its command lacks; undefined when all are known. */
export function unknownIn(command: string): string | undefined {
  const [first = '', second = ''] = command.replace(/^mlld /, '').split(' ');
  const isPlain = (word: string): boolean => /^[a-z]+$/.test(word);
  if (isPlain(first) && first !== 'help' && !GROUPS.has(first) && !ROWS.has(first) && !ALIASES.has(first)) return first;
  if (GROUPS.has(first) && isPlain(second) && !ROWS.has(`${first} ${second}`)) return second;
  const row = ROWS.get(`${first} ${second}`) ?? ROWS.get(first);
  const own = [...(row?.flags ?? []), ...(row?.otherFlags?.flags ?? [])];
  const isRun = row === undefined || first === 'run';
  const flags = [
    ...own,
    ...(isRun ? [...runFlags('run'), ...runFlags('file'), ...(RUN_PIPELINE.flags ?? []), ...(PROGRAM.flags ?? [])] : []),
  ];
  const known = new Set(['--help', '-h', ...flags.flatMap((flag) => spellingsOf(flag).map(dashed))]);
  const [before = ''] = command.split(/ -- | \| | && /);
  return [...before.matchAll(/ (--?[a-z][\w-]*)/g)].map(([, flag = '']) => flag).find((flag) => !known.has(flag));
}

/** Are understood, and not in the list of commands: other names, and what completion calls. */
const ALIASES = new Set([COMPLETE, ...COMMAND_ROWS.flatMap(([, { alias }]) => (alias === undefined ? [] : [alias]))]);
