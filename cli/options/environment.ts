/** `--mlld-env`: adds variables to the environment of the run, from the option itself or from a file. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { MlldError } from '../../src/errors.js';
import type { Io } from '../terminal/io.js';

/** Returns the process's environment with the variables of `--mlld-env`: `K=V,K=V`, or the path of a file of `K=V` lines. */
export async function environmentFor(io: Io, option: string | undefined): Promise<Io['environment']> {
  if (option === undefined) return io.environment;
  const entries = option.includes('=') ? option.split(',') : linesOf(await readEnvironmentFile(io, option));
  return { ...io.environment, ...Object.fromEntries(entries.map(parseEntry)) };
}

async function readEnvironmentFile(io: Io, file: string): Promise<string> {
  return fs.readFile(path.resolve(io.workingDirectory, file), 'utf8').catch((cause: unknown) => {
    throw new MlldError('USAGE', `--mlld-env ${file}: the file can't be read`, {
      hint: '--mlld-env K=V,K=V or --mlld-env FILE',
      cause,
    });
  });
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#'));
}

function parseEntry(entry: string): readonly [string, string] {
  const at = entry.indexOf('=');
  const name = entry.slice(0, at).trim();
  if (at < 1 || name === '') throw new MlldError('USAGE', `--mlld-env: "${entry.trim()}" is not K=V`);
  return [name, entry.slice(at + 1)];
}
