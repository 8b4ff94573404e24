/** Runs pipelines for a program: everything but the file has a default. */
import path from 'node:path';
import type { JournalEvent } from '../../journal/event.js';
import { displayPath } from '../language/paths.js';
import type { Handler } from '../pipeline/handlers/handler.js';
import { runPipeline as runWhole } from '../session/pipeline/run-pipeline.js';
import { WHO_ANSWERS, type PipelineReport, type PipelineIo, type PipelineRunOptions } from '../session/pipeline/run-pipeline-options.js';
import { hostDefaults } from '../world/host-defaults.js';
import { badOption, checkMembers, type Members } from './check.js';
import { guardedListeners, guardedStreams } from './host-functions.js';
import { checkIo, defined, projectFor } from './run.js';
import { OF_PIPELINES, withProgramHints } from './reports/program-hints.js';
import { watch, type Watched } from './watch.js';

export interface PipelineRunRequest extends Partial<
  Omit<PipelineRunOptions, 'file' | 'io' | 'parent' | 'watchOutput' | 'onOpened' | 'resumable'>
> {
  /** Path of the `.dot` file, relative to `workingDirectory`. */
  readonly file: string;
  readonly io?: Partial<PipelineIo>;
}

const MEMBERS: Members<PipelineRunRequest> = {
  file: 'text',
  name: 'text',
  project: 'object',
  workingDirectory: 'path of a folder',
  argv: 'list of texts',
  set: 'object',
  backend: 'text',
  runDirectory: 'text',
  checkpoint: 'true or false',
  resume: 'text',
  forks: 'list of texts',
  keepOrphans: 'true or false',
  people: 'text or object',
  environment: 'object',
  timeoutMs: 'number',
  io: 'object',
  signal: 'AbortSignal',
  openStore: 'function',
  journalWaitMs: 'number',
  calls: 'object',
  unrecorded: 'true or false',
  verbose: 'true or false',
  handlers: 'Map',
  backends: 'Map',
  transforms: 'list',
  rules: 'list',
  onFindings: 'function',
  onEvent: 'function',
  onProgress: 'function',
  onState: 'function',
  onCheckpoint: 'function',
};

const IO: Members<PipelineIo> = {
  stdin: 'function',
  stdout: 'function',
  stderr: 'function',
  nowMs: 'function',
  monotonicMs: 'function',
  readLine: 'function',
};

/** An event of the journal; or `checkpoint.saved`, which is not recorded: `checkpoint.json` was replaced. */
export type PipelineNotice = JournalEvent | { readonly type: 'checkpoint.saved' };

/**
 * Runs a pipeline. An error of the pipeline is in the report and not thrown. Throws MlldError: BAD_OPTION for a wrong request,
 * CONFIG_INVALID for a configuration that can't be read.
 *
 * ```js
 * const { status, error } = await runPipeline({ file: 'release.dot', people: 'auto' });
 * ```
 */
export async function runPipeline(request: PipelineRunRequest): Promise<PipelineReport> {
  const report = await runWhole(await optionsFor('runPipeline()', request));
  return withProgramHints(report, { argv: request.argv ?? [], words: OF_PIPELINES });
}

/**
 * Runs a pipeline and returns its events as they come. A wrong request rejects the report.
 *
 * ```js
 * const { events, report } = watchPipeline({ file: 'release.dot' });
 * for await (const { type } of events) console.log(type);
 * ```
 */
export function watchPipeline(request: Omit<PipelineRunRequest, 'onEvent' | 'onCheckpoint'>): Watched<PipelineNotice, PipelineReport> {
  return watch((onEvent) => runPipeline({ ...request, onEvent, onCheckpoint: () => onEvent({ type: 'checkpoint.saved' }) }));
}

async function optionsFor(where: string, request: PipelineRunRequest): Promise<PipelineRunOptions> {
  checkMembers(where, request, MEMBERS, ['file']);
  const { io, people, onFindings, onEvent, onProgress, onState, onCheckpoint } = request;
  checkIo(where, io, IO);
  for (const [type, handler] of request.handlers ?? []) {
    const isHandler = typeof (handler as Handler | undefined)?.handle === 'function';
    if (!isHandler) throw badOption(where, `the handler ${type} has no function "handle"`, '{ handle: async (stage) => outcomeOf(…) }');
  }
  for (const [kind, make] of request.backends ?? []) {
    if (typeof make !== 'function') throw badOption(where, `the backend ${kind} is not a function`, '(rest) => ({ name, execute })');
  }
  if (typeof people === 'string' && !WHO_ANSWERS.includes(people)) {
    throw badOption(where, `people is ${JSON.stringify(people)}`, `it is one of ${WHO_ANSWERS.join(', ')}, or an interviewer`);
  }
  const defaults = hostDefaults();
  const workingDirectory = path.resolve(request.workingDirectory ?? defaults.workingDirectory);
  const file = path.resolve(workingDirectory, request.file);
  const streams = guardedStreams({ ...defaults.io, ...defined(io ?? {}) }, defaults.io);
  return {
    argv: [],
    set: {},
    checkpoint: false,
    people: 'stdin',
    environment: defaults.environment,
    signal: new AbortController().signal,
    name: displayPath(file, { workingDirectory }),
    ...defined(request),
    ...guardedListeners(defined({ onFindings, onEvent, onProgress, onState, onCheckpoint }), streams),
    file,
    project: await projectFor(where, request.project, path.dirname(file)),
    workingDirectory,
    io: streams,
  };
}
