/** Finds misspelt words that would be taken for something else: `mlld journl` for a file, `--chekpoint` for a flag of the script. */
import fs from 'node:fs';
import path from 'node:path';
import { MlldError } from '../../src/errors.js';
import type { Execution } from '../commands/run-script.js';
import type { Io } from '../terminal/io.js';
import type { CommandForm } from '../command-table/rows.js';
import { suggestedFlags } from '../command-table/run-flags.js';
import { inCamelCase } from './run-request.js';
import { resembles } from './resembles.js';
import { shellWords } from '../../journal/shell-words.js';

const SHORTEST = 4;
const EDITS_MAX = 2;

/** Throws USAGE where the first word is not a file and nearly a command, or where its help is wanted. */
export async function refuseMisspeltCommand({ argv, workingDirectory }: Io, commands: readonly string[]): Promise<void> {
  const [first = '', ...rest] = argv;
  if (fs.existsSync(path.resolve(workingDirectory, first))) return;
  const { closest } = await import('../../grammar/closest.js');
  const meant = closest(first, commands);
  if (meant === undefined && !rest.includes('--help') && !rest.includes('-h')) return;
  throw new MlldError('USAGE', `There is no command and no file "${first}"`, {
    hint: meant === undefined ? 'mlld --help lists the commands' : `did you mean: ${shellWords(['mlld', meant, ...rest])}`,
  });
}

/** Names under which a budget is looked for: without a word, a run would cost what it costs. `maxCost` is an option of a function. */
const MEANS_BUDGET = ['max-cost', 'max-budget', 'max-budget-usd'];

/** The option that a flag resembles, or means. */
export function resembledOption(flag: string, form: CommandForm): string | undefined {
  if (MEANS_BUDGET.includes(flag)) return 'budget';
  return suggestedFlags(form).find((option) => resembles(flag, option));
}

/**
 * Checks the flags before `--` that are not options. Throws USAGE for one that resembles an option, unless the script reads that very
 * name from `@payload` (`payloadNames` reads files, and is called only for such a flag). Warns of a name that is merely near an option.
 */
export async function checkFlags(io: Io, execution: Execution, payloadNames: () => Promise<ReadonlySet<string>>): Promise<void> {
  const { request, form, script } = execution;
  const strange: string[] = [];
  for (const flag of request.looseFlags) {
    const meant = resembledOption(flag, form);
    if (meant === undefined) {
      strange.push(flag);
      continue;
    }
    const read = await payloadNames();
    if (![flag, inCamelCase(flag)].some((name) => read.has(name))) throw misspeltOption(flag, meant, execution);
  }
  const names = strange.filter((name) => name.length >= SHORTEST);
  if (names.length === 0) return;
  const { closest } = await import('../../grammar/closest.js');
  const long = suggestedFlags(form).filter((option) => option.length >= SHORTEST);
  for (const name of names) {
    const meant = closest(name, long, Math.min(EDITS_MAX, Math.floor(name.length / 3)));
    // A script that writes the name knows its flags.
    if (meant === undefined || [name, inCamelCase(name)].some((each) => sourceOf(script).includes(each))) continue;
    io.stderr(
      `warning: --${name} is not an option of mlld, so the script gets it as @payload.${name}; did you mean --${meant}? (a script that names ${name} is not warned about)\n`,
    );
  }
}

function misspeltOption(flag: string, meant: string, { request, form, script }: Execution): MlldError {
  const named = script.kind === 'text' ? '…' : shellWords([request.script ?? '']);
  return new MlldError(
    'USAGE',
    `--${flag} is not an option of mlld, did you mean --${meant}? To pass it to the script, put it after --: mlld ${form === 'run' ? 'run ' : ''}${named} -- --${flag}`,
  );
}

/** Running the script reports why it can't be read. */
function sourceOf(script: Execution['script']): string {
  if (script.kind === 'text') return script.text;
  try {
    return fs.readFileSync(script.path, 'utf8');
  } catch {
    return '';
  }
}
