/** Compares the `needs` of a script and of its frontmatter with PATH and `node_modules`. Runs nothing. world.md 11.6. */
import path from 'node:path';
import { isBuiltin } from 'node:module';
import { closest } from '../../values/suggest.js';
import type { LocatedFinding } from '../located-finding.js';
import type { ParsedScript, Violation } from '../rule.js';
import type { SourceFiles } from '../../world/files/source-files.js';
import { readFrontmatter } from './frontmatter.js';
import { NEEDS_WORDS, needsOf, type Need } from './needs-of.js';

export interface NeedsHost {
  readonly files: Pick<SourceFiles, 'kindOf' | 'isProgram'>;
  /** Lists the folders of PATH; undefined where programs are not looked for. */
  readonly searchPath: readonly string[] | undefined;
}

export const MISSING_NEED = 'missing-need';

/** A frontmatter that can't be read is an error, as it is in a run. */
export async function checkNeeds(file: ParsedScript, host: NeedsHost): Promise<readonly LocatedFinding[]> {
  const { problem } = await readFrontmatter(file.script, file.text);
  const missing = await missingNeeds(file, host);
  return [
    ...(problem ? [{ list: 'errors', code: 'syntax', file, violation: problem } as const] : []),
    ...missing.map((violation) => ({ list: 'warnings', code: MISSING_NEED, file, violation }) as const),
  ];
}

/** Returns one violation for each name, however often the file names it. */
export async function missingNeeds(file: ParsedScript, host: NeedsHost): Promise<readonly Violation[]> {
  const { facts } = await readFrontmatter(file.script, file.text);
  const found: Violation[] = [];
  for (const need of needsOf(file.script, facts?.needs ?? [])) {
    const message = await complaint(need, path.dirname(file.absolute), host);
    if (message !== undefined) found.push({ at: need.at, message });
  }
  return found;
}

async function complaint({ kind, name }: Need, directory: string, host: NeedsHost): Promise<string | undefined> {
  switch (kind) {
    case 'unchecked':
      return undefined;
    case 'unknown':
      return unknownWord(name);
    case 'program':
      if (!PROGRAM.test(name)) return `needs: ${JSON.stringify(name)} is not the name of a program: write it without arguments`;
      if (await hasProgram(name, directory, host)) return undefined;
      return `needs: the program ${name} is not on PATH: install it, or add its folder to PATH`;
    case 'node-package':
      if (!isPackage(name)) return `needs: ${JSON.stringify(name)} is not the name of a package`;
      if (isBuiltin(name) || (await hasPackage(name, directory, host))) return undefined;
      return `needs: the package ${name} is in no node_modules folder at or above the script: npm install ${name}`;
  }
}

function unknownWord(name: string): string {
  const near = closest(name, NEEDS_WORDS);
  const remedy = near === undefined ? `known are ${NEEDS_WORDS.join(', ')}; programs are named as cmd: [${name}]` : `did you mean ${near}?`;
  return `needs: mlld does not know ${JSON.stringify(name)}: ${remedy}`;
}

const PROGRAM = /^[A-Za-z0-9_./][\w.+/-]*$/;

function isPackage(name: string): boolean {
  return /^(?:@[a-z0-9][\w.-]*\/)?[A-Za-z0-9_][\w.-]*(?:\/[\w.-]+)*$/.test(name.replace(/^node:/, '')) && !name.split('/').includes('..');
}

async function hasProgram(name: string, directory: string, { files, searchPath }: NeedsHost): Promise<boolean> {
  if (searchPath === undefined) return true;
  if (name.includes('/')) return files.isProgram(path.resolve(directory, name));
  for (const folder of searchPath) if (await files.isProgram(path.join(folder, name))) return true;
  return false;
}

/** Looks where Node looks for a package that the script imports. */
async function hasPackage(name: string, directory: string, { files }: NeedsHost): Promise<boolean> {
  for (let folder = directory; ; folder = path.dirname(folder)) {
    if ((await files.kindOf(path.join(folder, 'node_modules', name))) !== 'none') return true;
    if (folder === path.dirname(folder)) return false;
  }
}
