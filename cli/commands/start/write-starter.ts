/** Puts the files of a first workflow into a folder (`mlld init`), and never touches a file that is there. */
import fs from 'node:fs';
import path from 'node:path';
import { isOnPath } from '../../../src/api/commands/workflows/files.js';
import { MODEL_PROGRAMS } from '../../../src/api/commands/words.js';
import { MlldError } from '../../../src/errors.js';
import type { Io } from '../../terminal/io.js';

export type Starter = 'summary' | 'review' | 'triage' | 'extract' | 'pipeline';

/** Beside the script of each starter that is one. */
const MODELS = 'models.mld';
const PIPELINE = 'announce.dot';
/** Folders with what the workflows of the starters read. */
const EXAMPLES = new Set(['notes', 'letters', 'sources', 'issues']);
/** Folders that git should not track: of the journal, and of what the workflows write. */
const IGNORED = ['.mlld/', 'out/'];

export interface StarterRequest {
  /** Absolute; is made where it does not exist. */
  readonly folder: string;
  readonly starter: Starter;
  /** The folder of the package that has a folder for each starter. */
  readonly starters: string;
}

export interface StarterReport {
  readonly template: Starter;
  /** Paths below the folder, sorted; `.gitignore` is among them when lines were appended to it. */
  readonly written: readonly string[];
  /** Files of the starter that were there already and are as they were. */
  readonly left: readonly string[];
  /** Examples that were not written, because their folder has files of the user: the workflow would read both. */
  readonly leftOut: readonly string[];
}

/** Throws OUTPUT_NOT_WRITABLE. What was written before stays, and a second attempt leaves it as it is. */
export function writeStarter({ folder, starter, starters }: StarterRequest): StarterReport {
  makeFolder(folder);
  const written: string[] = [];
  const left: string[] = [];
  const leftOut: string[] = [];
  const files = filesOf(starters, starter);
  const used = usedFolders(folder, [...files.keys()]);
  for (const [file, text] of files) {
    const isUnwanted = used.has(path.dirname(file)) && !fs.existsSync(path.join(folder, file));
    if (isUnwanted) leftOut.push(file);
    else (isWritten(folder, file, text) ? written : left).push(file);
  }
  if (ignores(folder)) written.push('.gitignore');
  return { template: starter, written: written.sort(), left: left.sort(), leftOut: leftOut.sort() };
}

/** Returns the words behind `mlld` that run a starter; with `program`, so that this program answers its prompts. */
export function wordsToRun(starter: Starter, program?: string): readonly string[] {
  if (starter === 'pipeline') return ['run', PIPELINE, ...(program === undefined ? [] : ['--backend', program])];
  return ['run', starter, '--checkpoint', ...(program === undefined ? [] : ['--model', program])];
}

/** Returns the first program that answers prompts and is in one of the folders of `PATH`. */
export function installedProgram(environment: Io['environment']): string | undefined {
  const names = MODEL_PROGRAMS.map(({ name }) => name);
  return names.find((name) => isOnPath(name, environment));
}

/** The texts by their paths below the folder of the project. */
function filesOf(starters: string, starter: Starter): ReadonlyMap<string, string> {
  const root = path.join(starters, starter);
  const entries = fs.readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = new Map([['mlld-config.json', '{}\n']]);
  for (const { parentPath, name } of entries) {
    const file = path.join(parentPath, name);
    files.set(path.relative(root, file), fs.readFileSync(file, 'utf8'));
  }
  if (starter !== 'pipeline')
    files.set(path.join('llm', 'run', starter, MODELS), fs.readFileSync(path.join(starters, 'models', MODELS), 'utf8'));
  return files;
}

/** Returns the folders of examples that have a file which is not of the starter. */
function usedFolders(folder: string, files: readonly string[]): ReadonlySet<string> {
  const examples = new Set(files.map((file) => path.dirname(file)).filter((each) => EXAMPLES.has(each)));
  const isUsed = (each: string): boolean => {
    const absolute = path.join(folder, each);
    if (!fs.existsSync(absolute) || !fs.statSync(absolute).isDirectory()) return false; // writing into it says what is wrong
    return fs.readdirSync(absolute).some((name) => !files.includes(path.join(each, name)));
  };
  return new Set([...examples].filter(isUsed));
}

function makeFolder(folder: string): void {
  try {
    fs.mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw notWritable(folder, error);
  }
}

/** Returns false where something of that name is there. */
function isWritten(folder: string, file: string, text: string): boolean {
  const absolute = path.join(folder, file);
  try {
    fs.mkdirSync(path.dirname(absolute), { recursive: true });
    fs.writeFileSync(absolute, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && fs.existsSync(absolute)) return false;
    throw notWritable(absolute, error);
  }
}

/** Appends the lines that are missing from `.gitignore`. Returns whether there were any. */
function ignores(folder: string): boolean {
  const absolute = path.join(folder, '.gitignore');
  try {
    const text = fs.existsSync(absolute) ? fs.readFileSync(absolute, 'utf8') : '';
    const present = new Set(text.split('\n').map(bare));
    const missing = IGNORED.filter((line) => !present.has(bare(line)));
    if (missing.length === 0) return false;
    const separator = text === '' || text.endsWith('\n') ? '' : '\n';
    fs.appendFileSync(absolute, `${separator}${missing.map((line) => `${line}\n`).join('')}`);
    return true;
  } catch (error) {
    throw notWritable(absolute, error);
  }
}

/** `.mlld`, `/.mlld` and `.mlld/` ignore the same folder at the root. */
function bare(line: string): string {
  return line.trim().replace(/^\/|\/$/g, '');
}

function notWritable(file: string, error: unknown): MlldError {
  return new MlldError('OUTPUT_NOT_WRITABLE', `${file} can't be written: ${(error as Error).message}`, {
    cause: error,
    hint: 'name another folder, or make this one writable: mlld init FOLDER',
  });
}
