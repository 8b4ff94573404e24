/**
 * Finds workflow scripts by name or path, and the definitions of their agents, and reads them. workflows-js.md 6.3 and 12. Reads files
 * itself, because which run it is follows from them, and there is no world before there is a run.
 */
import fs from 'node:fs';
import path from 'node:path';
import { MlldError } from '../../errors.js';
import { closest } from '../../values/suggest.js';
import { checkWorkflow, type ValidatedWorkflow } from '../../workflows/check-workflow.js';
import { readWorkflow } from '../../workflows/text/read-script.js';
import type { WorkflowSource } from '../../workflows/run/ports.js';
import { displayPath } from '../../language/paths.js';
import { WORKFLOW_DIR, type Project } from '../project.js';

const EXTENSIONS = ['.js', '.mjs'];
const FILE_BYTES_MAX = 4 * 1024 * 1024;

export interface WorkflowPlace {
  readonly project: Project;
  readonly home: string | undefined;
  readonly workingDirectory: string;
}

export interface WorkflowListing {
  readonly name: string;
  readonly description: string;
  readonly file: string;
}

/** True for a word that is the path of a script, and not its name. */
function isWorkflowPath(word: string): boolean {
  return /\.m?[jt]s$/.test(word);
}

/** Returns the absolute path; undefined where no script has the name. Throws WORKFLOW_NAME for a name of several. */
export async function findWorkflow(word: string, place: WorkflowPlace): Promise<string | undefined> {
  if (isWorkflowPath(word))
    return isFile(path.resolve(place.workingDirectory, word)) ? path.resolve(place.workingDirectory, word) : undefined;
  if (word.includes('/')) return undefined;
  const named = ownFolders(place.project).flatMap((folder) =>
    EXTENSIONS.map((extension) => path.join(folder, word + extension)).filter(isFile),
  );
  const byFile = named.length > 1 ? named.filter(hasMeta) : named;
  const byMeta = async (): Promise<readonly string[]> =>
    (await listWorkflows(place, 'home too')).flatMap(({ name, file }) => (name === word ? [file] : []));
  const found = byFile.length > 0 ? byFile : await byMeta();
  if (found.length > 1) throw ambiguous(word, found, place);
  return found[0];
}

function ambiguous(word: string, files: readonly string[], { workingDirectory }: WorkflowPlace): MlldError {
  const shown = files.map((file) => displayPath(file, { workingDirectory }));
  return new MlldError('WORKFLOW_NAME', `"${word}" is the name of ${files.length} workflow scripts: ${shown.join(', ')}`, {
    hint: `write the path: mlld run ${shown[0]}`,
  });
}

/** The error for a name of no script. */
export async function unknownWorkflow(word: string, place: WorkflowPlace): Promise<MlldError> {
  const names = (await listWorkflows(place, 'home too')).flatMap(({ name, file }) => [name, path.basename(file).replace(/\.m?js$/, '')]);
  const near = closest(word, names);
  const known = [...new Set(names)].sort();
  return new MlldError('WORKFLOW_NAME', `there is no workflow script "${word}"`, {
    hint:
      near !== undefined
        ? `did you mean ${near}?`
        : known.length === 0
          ? `put one at ${WORKFLOW_DIR}/${word}.js`
          : `there are: ${known.join(', ')}`,
  });
}

/** Returns the scripts of the project's folders; those of the user's with `home too`. Files without `meta` are none. */
export async function listWorkflows(
  { project, home }: Pick<WorkflowPlace, 'project' | 'home'>,
  where: 'project' | 'home too',
): Promise<readonly WorkflowListing[]> {
  // The project may be the home folder.
  const folders = new Set([...ownFolders(project), ...(where === 'home too' && home ? [path.join(home, WORKFLOW_DIR)] : [])]);
  const found: WorkflowListing[] = [];
  for (const file of [...folders].flatMap((folder) => entriesOf(folder).map((name) => path.join(folder, name)))) {
    const text = EXTENSIONS.includes(path.extname(file)) ? readText(file) : undefined;
    if (text === undefined) continue;
    try {
      const { meta } = await readWorkflow(text, file);
      found.push({ name: meta.name, description: meta.description, file });
    } catch (error) {
      if (!(error instanceof MlldError)) throw error; // else a file of something else, or a script that its own run reports
    }
  }
  return found;
}

/** Throws FILE_NOT_FOUND, and what is wrong with the text. */
export async function readWorkflowFile(file: string, place: Pick<WorkflowPlace, 'workingDirectory'>): Promise<WorkflowSource> {
  const { text, display } = readWorkflowText(file, place);
  return { file, display, text: await readWorkflow(text, display) };
}

/** Throws FILE_NOT_FOUND. */
function readWorkflowText(
  file: string,
  { workingDirectory }: Pick<WorkflowPlace, 'workingDirectory'>,
): { readonly text: string; readonly display: string } {
  const display = displayPath(file, { workingDirectory });
  const text = readText(file);
  if (text === undefined) throw new MlldError('FILE_NOT_FOUND', `There is no workflow script ${display} that can be read`);
  return { text, display };
}

/** Throws FILE_NOT_FOUND. What is wrong with the text is in the report. */
export async function validateWorkflow(
  file: string,
  written: string,
  place: Pick<WorkflowPlace, 'workingDirectory'>,
): Promise<ValidatedWorkflow> {
  return checkWorkflow(written, readWorkflowText(file, place));
}

/** Resolves what `workflow()` names: a name, or a path relative to the calling script. */
export async function calledWorkflow(
  ref: string | { readonly scriptPath: string },
  from: string,
  place: WorkflowPlace,
): Promise<WorkflowSource> {
  if (typeof ref !== 'string') {
    if (!isWorkflowPath(ref.scriptPath))
      throw new MlldError('WORKFLOW_NAME', `${ref.scriptPath} is no path of a script: it ends in .js or .mjs`);
    return readWorkflowFile(path.resolve(path.dirname(from), ref.scriptPath), place);
  }
  const file = await findWorkflow(ref, place);
  if (file === undefined) throw await unknownWorkflow(ref, place);
  return readWorkflowFile(file, place);
}

function ownFolders({ root, config }: Project): readonly string[] {
  return [...new Set([path.resolve(root, config.scriptDir), path.join(root, WORKFLOW_DIR)])];
}

/** The definition of a custom agent: of the project, else of the user. */
export function agentDefinition(agentType: string, { project, home }: Pick<WorkflowPlace, 'project' | 'home'>): string | undefined {
  if (!/^[\w.-]+$/.test(agentType)) return undefined; // no path
  const folders = [project.root, ...(home ? [home] : [])];
  for (const folder of folders) {
    const text = readText(path.join(folder, '.claude', 'agents', `${agentType}.md`));
    if (text !== undefined) return text;
  }
  return undefined;
}

/** True for a file that has a default export and does not begin as a script of the dialect. Nothing is run. */
export function isProgram(file: string): boolean {
  const text = readText(file) ?? '';
  return /^\s*export\s+(?:default\b|\{[^}]*\bas\s+default\b)/m.test(text) && !/^\s*export\s+const\s+meta\b/m.test(text);
}

/** Another `.js` file in these folders is no script. */
function hasMeta(file: string): boolean {
  const text = readText(file);
  return text !== undefined && /\bexport\s+const\s+meta\b/.test(text);
}

function entriesOf(folder: string): readonly string[] {
  try {
    return fs.readdirSync(folder).sort();
  } catch {
    return []; // a folder that is missing has no scripts
  }
}

function isFile(file: string): boolean {
  return fs.statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

/** Undefined for a file that is missing, large, a folder, or may not be read. */
function readText(file: string): string | undefined {
  try {
    return fs.statSync(file).size > FILE_BYTES_MAX ? undefined : fs.readFileSync(file, 'utf8');
  } catch {
    return undefined; // the caller decides what that means
  }
}
