/** Slips of the hand that would be taken for something else: `mlld journl` for a file, `--chekpoint` for a flag of the script. */
import fs from 'node:fs';
import path from 'node:path';
import { MlldError } from '../src/errors.js';
import type { Execution } from './commands/execute.js';
import type { Io } from './io.js';
import { optionNames } from './run-request.js';
import { shellWords } from './render/shell.js';

const SHORTEST = 4;
const EDITS_MAX = 2;

/** Throws USAGE where the first word is no file and nearly a command. */
export async function refuseMisspeltCommand({ argv, workingDirectory }: Io, commands: readonly string[]): Promise<void> {
  const [first = '', ...rest] = argv;
  if (fs.existsSync(path.resolve(workingDirectory, first))) return;
  const { closest } = await import('../src/values/suggest.js');
  const meant = closest(first, commands);
  if (meant === undefined) return;
  throw new MlldError('USAGE', `There is no command and no file "${first}"`, {
    hint: `did you mean: ${shellWords(['mlld', meant, ...rest])}`,
  });
}

/** A line on standard error for each; nothing for a name that the script itself writes: it knows its flags. */
export async function warnOfSlips(io: Io, { request, form, script }: Execution): Promise<void> {
  const names = Object.keys(request.payload).filter((name) => name.length >= SHORTEST);
  if (names.length === 0) return;
  const { closest } = await import('../src/values/suggest.js');
  const options = optionNames(form).filter((option) => option.length >= SHORTEST);
  for (const name of names) {
    const meant = closest(name, options, Math.min(EDITS_MAX, Math.floor(name.length / 3)));
    // `--new` of mlld is told to the script under its own name.
    if (meant === undefined || meant === name || sourceOf(script).includes(name)) continue;
    io.stderr(
      `warning: --${name} is no option of mlld, the script gets it as @payload.${name}; did you mean --${meant}? (a script that names ${name} is not warned about)\n`,
    );
  }
}

/** Whoever runs the script says why it can't be read. */
function sourceOf(script: Execution['script']): string {
  if (script.kind === 'text') return script.text;
  try {
    return fs.readFileSync(script.path, 'utf8');
  } catch {
    return '';
  }
}
