/**
 * Manages the runs of this process: pipelines that were sent to it, and runs of earlier processes that it resumes. Their questions are
 * answered from other processes.
 *
 * MANAGER-1 A client gets the id of its run when the first event is with the kernel: whatever happens then, the run is known.
 * MANAGER-2 A text that was sent is written to a file before the run starts, so that the run can be resumed. A kill in between leaves an
 *           upload without a run, which a later server removes (`orphaned-uploads.ts`). A pipeline of the project runs in its place.
 * MANAGER-3 A run ends in order or not at all; its slot is free when it has ended.
 * MANAGER-4 A run of this process is never resumed a second time: it is known as running from before the resume starts.
 * MANAGER-5 A run that another process has taken is none of this process: it is neither shown as running here nor cancelled here, also
 *           while calls of it are in flight. It is not resumed here before they have ended, because their results are reused then.
 */
import path from 'node:path';
import type { RunId, RunRef } from '../../journal/ids.js';
import {
  backendFor,
  CANCELLED,
  diagnosePipeline,
  type Diagnostic,
  isReservedKey,
  isTaken,
  type PipelineIo,
  type PipelineReport,
  type Project,
  runPipeline,
  shellWords,
  uploadFolder,
  valuesOfInputs,
  type WatchOutput,
} from '../api/pipeline-runs.js';
import { MlldError } from '../errors.js';
import { randomDigits } from '../world/host.js';
import { createLiveWorld } from '../world/live.js';
import { WorldError, type World } from '../world/world.js';
import { HttpError } from './http-error.js';
import { createLiveOutputs, type CommandOutput, type LiveOutputs } from './live-outputs.js';

export interface Submission {
  readonly dot: string;
  /** The absolute path of a pipeline of the project, whose text `dot` is; absent for one that was sent. */
  readonly file?: string;
  readonly set: { readonly [key: string]: string };
  readonly backend?: string;
}

export interface RunManager {
  /** @throws HttpError, or an error of the engine, when the run can't start */
  start(submission: Submission): Promise<RunId>;
  /** Resumes a run whose process has ended. Resolves when its first event is recorded. @throws as `start` */
  resume(run: Resumable): Promise<void>;
  /** `latest`: the latest run of the logical run. MANAGER-5 */
  has(id: RunId, latest: RunId): boolean;
  /** Returns what the commands in flight have written; undefined for a run of another process. */
  outputs(id: RunId, latest: RunId): readonly CommandOutput[] | undefined;
  cancel(id: RunId, latest: RunId): void;
  /** Resolves when another run may start. */
  slotFree(): Promise<void>;
  /** Refuses new runs and interrupts those that are running. Resolves when they have ended. */
  end(): Promise<void>;
}

/** Identifies a run to resume, with the options that it was started with. */
export interface Resumable {
  readonly id: RunId;
  /** The run that is continued. */
  readonly latest: RunId;
  /** Those of its logical run: no other one is continued in its name. */
  readonly runs: ReadonlySet<RunId>;
  readonly name: string;
  /** The absolute path of its pipeline. */
  readonly file: string;
  readonly backend: string | undefined;
}

export interface RunManagerOptions {
  readonly project: Project;
  readonly workingDirectory: string;
  readonly environment: { readonly [name: string]: string | undefined };
  readonly clock: Pick<PipelineIo, 'nowMs' | 'monotonicMs'>;
  /** The most runs at a time. */
  readonly runsMax: number;
  /** Logs a line about a run. */
  readonly log: (line: string) => void;
}

interface ManagedRun {
  readonly controller: AbortController;
  /** True when the first event is recorded. */
  hasBegun: boolean;
  /** The runs of the logical run that this process has begun. */
  readonly begun: Set<RunId>;
  readonly outputs: LiveOutputs;
  readonly ended: Promise<void>;
}

const FILE_NAME_MAX = 100;

export function createRunManager(options: RunManagerOptions): RunManager {
  const runs = new Set<ManagedRun>();
  const known = new Map<RunId, ManagedRun>();
  let isStopping = false;

  function refuseMore(): void {
    if (isStopping)
      throw new HttpError(503, 'SERVER_ENDING', 'The server is shutting down', {
        hint: 'send the request again when the server has been restarted',
      });
    if (runs.size < options.runsMax) return;
    throw new HttpError(429, 'RUNS_TOO_MANY', `${runs.size} pipelines are running, as many as --max-runs allows`, {
      hint: 'wait for one to end, cancel one, or start the server with a higher --max-runs',
    });
  }

  async function start(submission: Submission): Promise<RunId> {
    refuseMore();
    const name = checkedName(submission);
    const { dot, set, backend, file: own } = submission;
    if (own !== undefined) return launch({ name, file: own, set, backend });
    const file = path.join(uploadFolder(options.project), randomDigits(12), `${name.slice(0, FILE_NAME_MAX)}.dot`);
    return launch({ name, file, dot, set, backend });
  }

  /** MANAGER-5. Found by the latest run: `journal gc` may remove the first one, whose id the logical run had when it began here. */
  function ownRun(id: RunId, latest: RunId): ManagedRun | undefined {
    const own = known.get(id);
    return own?.hasBegun === false ? own : [...runs].find(({ begun }) => begun.has(latest));
  }

  async function resume({ id, latest, runs: resumable, name, file, backend }: Resumable): Promise<void> {
    if (known.has(id) && ownRun(id, latest) === undefined) {
      throw new HttpError(409, 'RUN_GOES_ON', `Calls of run ${id} that began here before another process took it are still in flight`, {
        hint: 'send the request again when they have ended: their results are reused',
      });
    }
    // The caller found the end of this run in its journal, so a run that is known here is only closing its files.
    const before = known.get(id);
    if (before?.hasBegun) await before.ended;
    refuseMore();
    if (known.has(id)) throw new HttpError(409, 'RUN_GOES_ON', `Run ${id} is already running in this server`);
    await launch({ id, resumable, name, file, set: {}, backend });
  }

  async function launch(launched: Launched): Promise<RunId> {
    const { name, file, backend } = launched;
    const named = backend === undefined ? [] : ['--backend', backend];
    const controller = new AbortController();
    let begun: (id: RunId) => void = () => undefined;
    const beginning = new Promise<RunId>((resolve) => (begun = resolve));
    const outputs = createLiveOutputs();
    const runsBegun = new Set<RunId>();
    const opened = ({ run: each }: RunRef): void => void runsBegun.add(each);
    const working = run(options, { ...launched, signal: controller.signal, opened, begun, watchOutput: outputs.watch });
    let id = launched.id;
    const over = working.finally(() => {
      runs.delete(own);
      if (id !== undefined) known.delete(id);
    });
    const own: ManagedRun = { controller, hasBegun: false, begun: runsBegun, outputs, ended: over.then(ignore, ignore) };
    runs.add(own);
    if (id !== undefined) known.set(id, own); // MANAGER-4
    id = await Promise.race([beginning, over.then(refused)]);
    own.hasBegun = true;
    known.set(id, own);
    void over.then(
      ({ status, error }) => {
        options.log(`${id}: ${name} ${endOf(status, error)}`);
        if (isTaken(error instanceof Error ? error.cause : undefined))
          options.log(`  where no other process goes on with it, POST /pipelines/${id}/resume resumes it, and reuses what is recorded`);
        else if (status !== 'completed')
          options.log(`  resume: mlld run ${shellWords([path.relative(options.workingDirectory, file), ...named])} --resume --ask remote`);
      },
      (error: unknown) => options.log(`${id}: ${name} failed unexpectedly: ${String(error)}`),
    );
    options.log(`${id}: ${name} ${launched.id === undefined ? 'started' : 'resumed'}`);
    return id;
  }

  return {
    start,
    resume,
    has: (id, latest) => ownRun(id, latest) !== undefined,
    outputs: (id, latest) => ownRun(id, latest)?.outputs.read(),
    cancel: (id, latest) => ownRun(id, latest)?.controller.abort(CANCELLED),
    async slotFree() {
      while (runs.size >= options.runsMax && !isStopping) await Promise.race([...runs].map(({ ended }) => ended));
    },
    async end() {
      isStopping = true;
      for (const { controller } of runs) controller.abort('the end of its server');
      await Promise.all([...runs].map(({ ended }) => ended));
    },
  };
}

/** Returns the name of the pipeline, or throws an HttpError before anything is written. */
function checkedName({ dot, set, backend }: Submission): string {
  const reserved = Object.keys(set).find(isReservedKey);
  if (reserved !== undefined) {
    throw new HttpError(422, 'CONTEXT_KEY', `"set": ${reserved}: this key is reserved for the engine`, { hint: 'choose another name' });
  }
  const { report, graph } = diagnosePipeline({ file: 'pipeline.dot', text: dot });
  if (!graph) throw unsound(report.diagnostics);
  try {
    valuesOfInputs(graph, set);
  } catch (error) {
    if (!(error instanceof MlldError)) throw error;
    throw new HttpError(422, error.code, error.message, { hint: error.hint });
  }
  try {
    if (backend !== undefined) backendFor(backend);
  } catch (error) {
    throw new HttpError(422, 'BACKEND_UNKNOWN', (error as Error).message);
  }
  return graph.name;
}

/** The message of a run that paused says so itself. */
function endOf(status: string, error: unknown): string {
  if (!(error instanceof Error)) return status;
  return error.message.startsWith(`${status}: `) ? error.message : `${status}: ${error.message}`;
}

interface Launched {
  /** Set for a run that is resumed. */
  readonly id?: RunId;
  readonly resumable?: ReadonlySet<RunId>;
  readonly name: string;
  readonly file: string;
  /** The text of an upload that is not written yet. */
  readonly dot?: string;
  readonly set: Submission['set'];
  readonly backend: string | undefined;
}

interface Run extends Launched {
  readonly signal: AbortSignal;
  readonly opened: (run: RunRef) => void;
  readonly begun: (id: RunId) => void;
  readonly watchOutput: WatchOutput;
}

async function run(
  options: RunManagerOptions,
  { id: resumed, resumable, file, dot, set, backend, signal, opened, begun, watchOutput }: Run,
): Promise<PipelineReport> {
  const { project, workingDirectory, environment, clock, log } = options;
  if (dot !== undefined) await writeUpload(file, dot);
  let id = resumed;
  let hasBegun = false;
  let diagnostics: readonly Diagnostic[] = [];
  const logLines = (text: string): void =>
    text
      .trimEnd()
      .split('\n')
      .forEach((line) => log(`${id ?? path.basename(file)}: ${line}`));
  const report = await runPipeline({
    file,
    name: path.relative(workingDirectory, file),
    project,
    workingDirectory,
    argv: [],
    set,
    ...(backend === undefined ? {} : { backend }),
    ...(resumed === undefined ? {} : { resume: '' }),
    ...(resumable && { resumable }),
    checkpoint: false,
    people: 'remote',
    environment,
    io: { ...clock, stdin: async () => undefined, stdout: logLines, stderr: logLines },
    signal,
    watchOutput,
    onFindings: (findings) => (diagnostics = findings.diagnostics),
    onOpened: opened,
    onState: ({ runId }) => {
      if (hasBegun || runId === undefined) return; // a restart belongs to the same logical run
      hasBegun = true;
      id ??= runId;
      begun(id);
    },
  });
  if (hasBegun) return report;
  if (dot !== undefined) await removeUpload(file);
  // The run did not start and gave no reason: its file has been edited since, and lint found errors.
  return report.error === undefined && report.notice === undefined ? { ...report, error: unsound(diagnostics) } : report;
}

/** Throws the reason why a run did not start. */
function refused({ error, notice }: PipelineReport): never {
  if (notice !== undefined) throw new HttpError(409, 'RUN_FINISHED', notice);
  throw error instanceof Error ? error : new Error('a run was refused without a reason');
}

function unsound(diagnostics: readonly Diagnostic[]): HttpError {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  return new HttpError(422, 'PIPELINE_REFUSED', errors[0]?.message ?? 'the pipeline has errors', {
    diagnostics,
    hint: 'mlld validate FILE.dot shows the same findings',
  });
}

async function writeUpload(file: string, text: string): Promise<void> {
  try {
    await withFiles((world) => world.perform('file.write', { path: file, text }));
  } catch (error) {
    if (!(error instanceof WorldError)) throw error;
    throw new HttpError(503, 'PIPELINE_JOURNAL', `The journal of the pipeline can't be written: ${error.message}`, {
      hint: 'make the folder .mlld writable',
      cause: error,
    });
  }
}

async function removeUpload(file: string): Promise<void> {
  await withFiles((world) => world.perform('file.remove', { path: file }));
}

/** Lets the files of this machine be read and written outside of a run. */
export async function withFiles<T>(act: (world: World) => Promise<T>): Promise<T> {
  const nowhere = { stdin: async () => undefined, stdout: () => undefined, stderr: () => undefined, environment: {} };
  const world = createLiveWorld(nowhere);
  try {
    return await act(world);
  } finally {
    await world.close('the file is written');
  }
}

function ignore(): void {
  // Callers that wait for the end of a run do not need its report.
}
