/**
 * Finds the project that a script belongs to: its root, its configuration, its script folder. world.md 4, 17.2 and 20.
 * Reads files itself, because a world is made for a run, and what is read here decides which run that is. Reads them synchronously: a few
 * look-ups when a command starts take less time than starting the thread pool for them.
 */
import fs from 'node:fs';
import path from 'node:path';
import { workflowOf, type Workflow } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import { MlldError } from '../errors.js';
import { shellWords } from '../../journal/shell-words.js';
import { leavesFolder } from '../world/files/resolver-prefix.js';
import { CONFIG_FILE, DEFAULT_SCRIPT_DIR, readConfig, type ProjectConfig } from './project-config.js';

export type { ProjectConfig } from './project-config.js';

export interface Project {
  /** Absolute. */
  readonly root: string;
  readonly config: ProjectConfig;
}

/** A project, and the folder from which a user names its scripts. */
export interface WorkingProject extends Project {
  /** Absolute. */
  readonly workingDirectory: string;
}

export interface ScriptFile {
  /** Absolute. */
  readonly path: string;
  /** The name in messages and for `mlld run`. */
  readonly name: string;
}

const MARKERS = [CONFIG_FILE, 'mlld-lock.json', 'mlld.lock.json', 'package.json', '.git', 'pyproject.toml', 'Cargo.toml'];
const ENTRIES = ['index.mld', 'main.mld', 'index.mld.md', 'main.mld.md'];
const EXTENSION = /\.mld(\.md)?$/;
/** The endings of scripts of the language and of workflow scripts. */
const ANY_EXTENSION = /\.(?:mld(?:\.md)?|m?js)$/;
/** Workflow scripts of a project, and of a user in the home folder, lie in here. */
export const WORKFLOW_DIR = path.join('.claude', 'workflows');
/** `mlld serve` keeps each pipeline that was sent to it in a folder of its own in here. */
const UPLOADS = path.join('.mlld', 'serve');

/**
 * Returns the nearest folder with a marker, from `startDirectory` upward. Without one it is the nearest folder with a script folder, so
 * that a script has one record whether it is run by name or by path; else the folder that `startDirectory` has the workflow scripts of, or
 * `startDirectory` itself. Throws CONFIG_INVALID.
 *
 * ```js
 * const { root } = await findProject('.');
 * ```
 */
export async function findProject(startDirectory: string): Promise<Project> {
  const start = path.resolve(startDirectory);
  const folders = [...upwardFrom(start)];
  const root = folders.find(hasMarker) ?? folders.find(hasScripts) ?? workflowsOf(start) ?? start;
  return { root, config: readConfig(root) };
}

/** A store of any other folder would be empty, and runs that were recorded in it would not be found again. */
export function isProjectRoot(folder: string): boolean {
  return hasMarker(folder) || hasScripts(folder) || fs.existsSync(path.join(folder, '.mlld'));
}

function* upwardFrom(start: string): Generator<string> {
  for (let folder = start; ; folder = path.dirname(folder)) {
    yield folder;
    if (folder === path.dirname(folder)) return;
  }
}

const hasMarker = (folder: string): boolean => MARKERS.some((marker) => fs.existsSync(path.join(folder, marker)));
const hasScripts = (folder: string): boolean => fs.existsSync(path.join(folder, DEFAULT_SCRIPT_DIR));

/** Returns `/harbour` for `/harbour/.claude/workflows` and what is below. */
function workflowsOf(folder: string): string | undefined {
  const at = `${folder}${path.sep}`.lastIndexOf(`${path.sep}${WORKFLOW_DIR}${path.sep}`);
  return at > 0 ? folder.slice(0, at) : undefined;
}

/** Without the folder from which a user names scripts, that is the root. */
export type ProjectFromFolder = Project & Partial<Pick<WorkingProject, 'workingDirectory'>>;

/** Looks for a script in the project's script folder, then in `~/.mlld/run`. Throws SCRIPT_UNKNOWN with the names there are. */
export async function findScript(project: ProjectFromFolder, name: string, home: string | undefined): Promise<ScriptFile> {
  for (const folder of scriptFolders(project, home)) {
    const found = scriptIn(folder, name);
    if (found !== undefined) return { path: found, name: nameWithin(folder, found) };
  }
  throw new MlldError('SCRIPT_UNKNOWN', `There is no script "${name}" in ${project.config.scriptDir}`, {
    hint: await adviceFor(project, name, home),
  });
}

async function adviceFor(project: ProjectFromFolder, name: string, home: string | undefined): Promise<string> {
  if (isPath(name)) return `a file is run by its path, without \`run\`, and recorded with a flag: mlld ${name} --checkpoint`;
  const { root, config, workingDirectory = root } = project;
  const pipeline = path.resolve(root, config.scriptDir, `${name}.dot`);
  if (fs.existsSync(pipeline))
    return `a pipeline is run by its path: ${shellWords(['mlld', 'run', path.relative(workingDirectory, pipeline)])}`;
  const known = await listScripts(project, home);
  return known.length === 0
    ? `no scripts were found; put one at ${path.relative(workingDirectory, path.resolve(root, config.scriptDir, `${name}.mld`))}`
    : `available scripts: ${known.join(', ')}`;
}

/** True for a text that can only be the path of a file, and not the name of a script. */
export function isPath(name: string): boolean {
  return /^\.\.?\/|^\/|\.(?:mld|md)$/.test(name);
}

/** Returns the names for `mlld run`, sorted. A folder is a script if it has an entry file. */
export async function listScripts(project: Project, home: string | undefined): Promise<readonly string[]> {
  const names = new Set<string>();
  for (const folder of scriptFolders(project, home)) {
    for (const entry of entriesOf(folder)) {
      const found = scriptIn(folder, entry);
      if (found !== undefined) names.add(nameWithin(folder, found));
    }
  }
  return [...names].sort();
}

/** Returns the file name without extension; `index` and `main` take the name of their folder. checkpoint-resume.md 3.1. */
export function scriptName(project: Project, file: string): string {
  const absolute = path.resolve(project.root, file);
  const base = path.basename(absolute).replace(ANY_EXTENSION, '');
  return base === 'index' || base === 'main' ? path.basename(path.dirname(absolute)) : base;
}

/** Pipelines in this folder are as if they were in the root of the project. */
export function uploadFolder({ root }: Pick<Project, 'root'>): string {
  return path.join(root, UPLOADS);
}

/** True for a pipeline that was sent to a server, by its path in the project. */
export function isUpload(workflow: string): boolean {
  return workflow.startsWith('.mlld/serve/');
}

/** Relative paths in a file begin at its own folder, or at the root of the project for a pipeline that was sent to a server. */
export function baseFolder(project: Pick<Project, 'root'>, file: string): string {
  const isSent = path.dirname(path.dirname(file)) === uploadFolder(project);
  return isSent ? project.root : path.dirname(file);
}

/** Returns the identity of a script: its path in the project; the absolute path for a script outside of it. */
export function workflowFor(project: Project, file: string): Workflow {
  const absolute = path.resolve(project.root, file);
  const relative = path.relative(project.root, absolute);
  return workflowOf(relative.startsWith('..') || path.isAbsolute(relative) ? absolute : relative);
}

/** Returns the file of a recorded path; undefined outside of the project: anybody who writes to the store may have recorded any path. */
export function recordedFile({ root }: Pick<Project, 'root'>, recorded: string): string | undefined {
  const file = path.resolve(root, recorded);
  return leavesFolder(root, file) ? undefined : file;
}

/**
 * Finds the recorded script that a name or path means (`collect`, `collect.mld`, `east/tide.mld`); undefined if none is recorded under it.
 * `./x` and `../x` begin at the working directory, as for `mlld FILE`; other paths and names at the project. A whole path has precedence;
 * otherwise every script of that name counts, and two are SCRIPT_AMBIGUOUS.
 */
export async function workflowByPath(store: JournalStore, project: WorkingProject, written: string): Promise<Workflow | undefined> {
  const text = /^\.\.?\//.test(written) ? path.resolve(project.workingDirectory, written) : written;
  const recorded = await store.workflows();
  const wanted = workflowFor(project, text);
  const exact = recorded.find((workflow) => workflow === wanted);
  if (exact !== undefined) return exact;
  const asRun = workflowFor(project, path.join(project.config.scriptDir, text));
  const candidates = recorded.filter(
    (workflow) => isCalled(project, workflow, text) || isSameScript(workflow, wanted) || isSameScript(workflow, asRun),
  );
  if (candidates.length <= 1) return candidates[0];
  throw new MlldError('SCRIPT_AMBIGUOUS', `"${text}" is the name of ${candidates.length} recorded scripts: ${candidates.join(', ')}`, {
    hint: 'write the path of the script instead',
  });
}

/** `tide`, `tide.mld` and `east/tide.mld` all name `north/east/tide.mld`; `tide` also names `tide/index.mld`. */
function isCalled(project: Project, workflow: Workflow, text: string): boolean {
  return scriptName(project, workflow) === text || `/${workflow}`.endsWith(`/${text}`);
}

function isSameScript(workflow: Workflow, wanted: string): boolean {
  const base = wanted.replace(ANY_EXTENSION, '');
  return [base, `${base}.mld`, `${base}.mld.md`, ...ENTRIES.map((entry) => `${base}/${entry}`)].some((path) => path === workflow);
}

function scriptFolders(project: Project, home: string | undefined): readonly string[] {
  const own = path.resolve(project.root, project.config.scriptDir);
  return home === undefined || home === '' ? [own] : [own, path.join(home, '.mlld', 'run')];
}

function scriptIn(folder: string, name: string): string | undefined {
  const candidates = [
    `${name}.mld`,
    ...ENTRIES.map((entry) => path.join(name, entry)),
    `${name}.mld.md`,
    ...(EXTENSION.test(name) ? [name] : []),
  ];
  return candidates.map((candidate) => path.join(folder, candidate)).find(isFile);
}

function nameWithin(folder: string, file: string): string {
  const relative = path.relative(folder, file).replaceAll(path.sep, '/');
  const name = ENTRIES.includes(path.basename(file)) && relative.includes('/') ? path.posix.dirname(relative) : relative;
  return name.replace(EXTENSION, '');
}

function entriesOf(folder: string): readonly string[] {
  try {
    return fs.readdirSync(folder).filter((name) => !name.startsWith('.'));
  } catch {
    return []; // A folder that is missing or can't be read has no script.
  }
}

function isFile(file: string): boolean {
  try {
    return fs.statSync(file).isFile();
  } catch {
    return false; // Also if a part of the path is not a folder.
  }
}
