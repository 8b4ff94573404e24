/** Runs scripts for a program: everything but the script has a default, and a wrong request is an error that names the member. */
import path from 'node:path';
import type { JournalEvent } from '../../journal/event.js';
import { findProject, scriptName, type Project } from '../session/project.js';
import { runScript as runWhole } from '../session/script/run-script.js';
import type { CacheRequest, RunIo, RunOptions, RunReport, ScriptSource } from '../session/script/run-options.js';
import { hostDefaults } from '../world/host-defaults.js';
import { badOption, checkMembers, isRecord, type Members } from './check.js';
import { guardedListeners, guardedStreams } from './host-functions.js';
import { OF_SCRIPTS, withProgramHints } from './reports/program-hints.js';
import { watch, type Watched } from './watch.js';

export type ScriptRequest =
  /** Relative to `workingDirectory`. */
  | { readonly kind: 'file'; readonly path: string }
  /**
   * With a name the text takes the place of the file of that name in the project, which need not exist: paths in it are relative to the
   * folder of that file, and it is recorded under the name. Without a name paths are relative to `directory`, by default the working
   * directory, and nothing is recorded.
   */
  | { readonly kind: 'text'; readonly text: string; readonly name?: string; readonly directory?: string };

export interface RunRequest extends Partial<Omit<RunOptions, 'script' | 'io' | 'pipeline' | 'workflow'>> {
  readonly script: ScriptRequest;
  /** By default the script writes to the streams of the process, and standard input is empty. */
  readonly io?: Partial<RunIo>;
}

const MEMBERS: Members<RunRequest> = {
  script: 'object',
  mode: ['strict', 'markdown'],
  name: 'text',
  project: 'object',
  workingDirectory: 'path of a folder',
  argv: 'list of texts',
  payload: 'object',
  inject: 'list of texts',
  state: 'list of texts',
  cache: 'object',
  environment: 'object',
  timeoutMs: 'number',
  calls: 'object',
  errorBehavior: ['continue', 'halt'],
  streaming: 'true or false',
  structured: 'true or false',
  verbose: 'true or false',
  io: 'object',
  signal: 'AbortSignal',
  openStore: 'function',
  journalWaitMs: 'number',
  workers: 'object',
  unrecorded: 'true or false',
  onProgress: 'function',
  onAtWorkers: 'function',
  onEvent: 'function',
};

const CACHE: Members<CacheRequest> = {
  record: 'true or false',
  checkpoint: 'true or false',
  fresh: 'true or false',
  resume: 'text',
  changed: ['serve', 'ask', 'ask-guards'],
  keepFiles: 'true or false',
  keepOrphans: 'true or false',
  noCheckpoint: 'true or false',
  forks: 'list of texts',
};

const IO: Members<RunIo> = {
  stdin: 'function',
  stdout: 'function',
  stderr: 'function',
  message: 'function',
  nowMs: 'function',
  monotonicMs: 'function',
};

/**
 * Runs a script. An error of the script is in the report and not thrown. Throws MlldError: BAD_OPTION for a wrong request,
 * CONFIG_INVALID for a configuration that can't be read.
 *
 * ```js
 * const { status, error } = await run({ script: { kind: 'file', path: 'nightly.mld' }, cache: { checkpoint: true } });
 * ```
 */
export async function run(request: RunRequest): Promise<RunReport> {
  checkMembers('run()', request, MEMBERS, ['script']);
  checkScript(request.script);
  const { io, ...members } = request;
  checkIo('run()', io);
  if (members.cache !== undefined) checkMembers('run(), cache', members.cache, CACHE);
  checkRecords(request);
  const defaults = hostDefaults();
  const workingDirectory = path.resolve(request.workingDirectory ?? defaults.workingDirectory);
  const project = await projectFor('run()', request.project, folderOf(request.script, workingDirectory));
  const script = sourceFor(request.script, { project, workingDirectory });
  const streams = guardedStreams({ ...defaults.io, ...defined(io ?? {}) }, defaults.io);
  const { onProgress, onAtWorkers, onEvent } = request;
  const report = await runWhole({
    argv: [],
    payload: {},
    inject: [],
    state: [],
    cache: {},
    environment: defaults.environment,
    errorBehavior: 'continue',
    streaming: true,
    structured: false,
    signal: new AbortController().signal,
    name: script.kind === 'file' ? scriptName(project, script.path) : script.label,
    ...defined(members),
    ...guardedListeners(defined({ onProgress, onAtWorkers, onEvent }), streams),
    script,
    project,
    workingDirectory,
    io: streams,
  });
  return withProgramHints(report, { argv: request.argv ?? [], words: OF_SCRIPTS });
}

/**
 * Runs a script and returns its events as they are recorded. The run has to record: `cache: { record: true }`, or any other option that
 * records. A wrong request rejects the report.
 *
 * ```js
 * const { events, report } = watchScript({ script: { kind: 'file', path: 'nightly.mld' }, cache: { checkpoint: true } });
 * for await (const event of events) console.log(describeEvent(event));
 * ```
 */
export function watchScript(request: Omit<RunRequest, 'onEvent'>): Watched<JournalEvent, RunReport> {
  return watch((onEvent) => run({ ...request, onEvent }));
}

/** Only what is recorded has events. */
function checkRecords({ onEvent, cache = {} }: RunRequest): void {
  const { record, checkpoint, fresh, resume, forks = [] } = cache;
  if (onEvent === undefined || record === true || checkpoint === true || fresh === true || resume !== undefined || forks.length > 0) return;
  throw badOption(
    'run()',
    'onEvent is given, and the run does not record',
    'cache: { record: true }, or checkpoint: true to reuse results',
  );
}

function checkScript(script: { readonly [name: string]: unknown }): void {
  const { kind } = script;
  if (kind === 'file') checkMembers('run(), script', script, { kind: ['file'], path: 'text' }, ['path']);
  else if (kind === 'text')
    checkMembers('run(), script', script, { kind: ['text'], text: 'text', name: 'text', directory: 'text' }, ['text']);
  else throw badOption('run()', 'script.kind is missing or unknown', "{ kind: 'file', path } or { kind: 'text', text, name }");
  if (script['name'] === '') throw badOption('run()', 'script.name is empty', 'leave it out, or name the file whose place the text takes');
  if (script['name'] !== undefined && script['directory'] !== undefined) {
    throw badOption(
      'run()',
      'script.directory and script.name are both given',
      'with a name, paths are relative to the folder of that name',
    );
  }
}

export function checkIo(where: string, io: unknown, members: Members<Omit<RunIo, 'message'>> = IO): void {
  if (io !== undefined) checkMembers(`${where}, io`, io, members);
}

function folderOf(script: ScriptRequest, workingDirectory: string): string {
  if (script.kind === 'file') return path.dirname(path.resolve(workingDirectory, script.path));
  return path.resolve(workingDirectory, script.directory ?? '.');
}

/** Returns the project of the request, or the one that the folder belongs to. Throws BAD_OPTION. */
export async function projectFor(where: string, project: Project | undefined, folder: string): Promise<Project> {
  if (project === undefined) return findProject(folder);
  if (typeof project.root === 'string' && isRecord(project.config)) return project;
  throw badOption(where, 'project is not a project', 'await findProject(folder) returns one');
}

function sourceFor(
  script: ScriptRequest,
  { project, workingDirectory }: { readonly project: Project; readonly workingDirectory: string },
): ScriptSource {
  if (script.kind === 'file') return { kind: 'file', path: path.resolve(workingDirectory, script.path) };
  const { text, name } = script;
  if (name === undefined) return { kind: 'text', text, directory: folderOf(script, workingDirectory), label: 'text' };
  const recordAs = path.resolve(project.root, name);
  return { kind: 'text', text, directory: path.dirname(recordAs), label: name, recordAs };
}

/** Leaves out members that are undefined, which would replace defaults. */
export function defined<T extends object>(members: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
