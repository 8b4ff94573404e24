/**
 * The runs that this process runs: ordinary graph runs, whose questions are answered from elsewhere; sent to it, or left by a process that
 * ended and resumed here.
 *
 * O1 Whoever sends a pipeline is told its id when its first event is with the kernel: whatever happens then, the run is known.
 * O2 The text is a file before the run begins, so that it can be resumed. A kill in between leaves a file that nobody was told of, which
 *    a later server removes (`strays.ts`).
 * O3 A run ends in order or not at all; its place is free when it is over.
 * O4 Nobody resumes a run that this process runs: it is known as one of its own from before the resume begins.
 */
import path from 'node:path';
import type { RunId } from '../../journal/ids.js';
import { isReservedKey } from '../pipeline/model/context-keys.js';
import { backendFor } from '../pipeline/backends/select-backend.js';
import { diagnosePipeline, type Diagnostic } from '../pipeline/lint/diagnostics.js';
import { uploadFolder, type Project } from '../session/project.js';
import { runPipeline } from '../session/pipeline/run-pipeline.js';
import { CANCELLED, type PipelineReport, type PipelineIo } from '../session/pipeline/run-pipeline-options.js';
import { randomDigits } from '../world/host.js';
import { createLiveWorld } from '../world/live.js';
import { WorldError } from '../world/world.js';
import { HttpError } from './http-error.js';

export interface Submission {
  readonly dot: string;
  readonly set: { readonly [key: string]: string };
  readonly backend?: string;
}

export interface RunManager {
  /** @throws Refusal, or an error of the engine, when there will be no run */
  start(submission: Submission): Promise<RunId>;
  /** Goes on with a run that no process runs. Resolves when its first event is recorded. @throws as `start` */
  resume(run: Resumable): Promise<void>;
  has(id: RunId): boolean;
  cancel(id: RunId): void;
  /** Resolves when another one may begin. */
  slotFree(): Promise<void>;
  /** No run begins any more; those that go on are interrupted. Resolves when they have ended. */
  end(): Promise<void>;
}

/** What a run began with. */
export interface Resumable {
  readonly id: RunId;
  readonly name: string;
  /** Absolute path of its text. */
  readonly file: string;
  readonly backend: string | undefined;
}

export interface RunManagerOptions {
  readonly project: Project;
  readonly workingDirectory: string;
  readonly environment: { readonly [name: string]: string | undefined };
  readonly clock: Pick<PipelineIo, 'nowMs' | 'monotonicMs'>;
  /** At a time. */
  readonly runsMax: number;
  /** A line about a run. */
  readonly log: (line: string) => void;
}

interface ManagedRun {
  readonly ending: AbortController;
  /** Its first event is recorded. */
  hasBegun: boolean;
  readonly ended: Promise<void>;
}

const FILE_NAME_MAX = 100;

export function createRunManager(options: RunManagerOptions): RunManager {
  const runs = new Set<ManagedRun>();
  const known = new Map<RunId, ManagedRun>();
  let isEnding = false;

  function refuseMore(): void {
    if (isEnding) throw new HttpError(503, 'SERVER_ENDING', 'The server is about to end', { hint: 'ask the next one' });
    if (runs.size < options.runsMax) return;
    throw new HttpError(429, 'RUNS_TOO_MANY', `${runs.size} pipelines are running, which is the limit`, {
      hint: 'wait for one to end, cancel one, or start the server with a higher --max-runs',
    });
  }

  async function start(submission: Submission): Promise<RunId> {
    refuseMore();
    const name = checkedName(submission);
    const file = path.join(uploadFolder(options.project), randomDigits(12), `${name.slice(0, FILE_NAME_MAX)}.dot`);
    const { dot, set, backend } = submission;
    return launch({ name, file, dot, set, backend });
  }

  async function resume({ id, name, file, backend }: Resumable): Promise<void> {
    // The caller has read an end of this run in the journal: one that has begun is only closing its files.
    const before = known.get(id);
    if (before?.hasBegun) await before.ended;
    refuseMore();
    if (known.has(id)) throw new HttpError(409, 'RUN_GOES_ON', `Run ${id} is running in this server`);
    await launch({ id, name, file, set: {}, backend });
  }

  async function launch(launched: Launched): Promise<RunId> {
    const { name, file } = launched;
    const ending = new AbortController();
    let begun: (id: RunId) => void = () => undefined;
    const beginning = new Promise<RunId>((resolve) => (begun = resolve));
    const working = run(options, { ...launched, signal: ending.signal, begun });
    let id = launched.id;
    const over = working.finally(() => {
      runs.delete(own);
      if (id !== undefined) known.delete(id);
    });
    const own: ManagedRun = { ending, hasBegun: false, ended: over.then(ignore, ignore) };
    runs.add(own);
    if (id !== undefined) known.set(id, own); // O4
    id = await Promise.race([beginning, over.then(refused)]);
    own.hasBegun = true;
    known.set(id, own);
    void over.then(
      ({ status, error }) => {
        options.log(`${id}: ${name} ${status}${error instanceof Error ? `: ${error.message}` : ''}`);
        if (status !== 'completed')
          options.log(`  resume: mlld run ${path.relative(options.workingDirectory, file)} --resume --ask remote`);
      },
      (error: unknown) => options.log(`${id}: ${name} broke off: ${String(error)}`),
    );
    options.log(`${id}: ${name} ${launched.id === undefined ? 'started' : 'goes on'}`);
    return id;
  }

  return {
    start,
    resume,
    has: (id) => known.has(id),
    cancel: (id) => known.get(id)?.ending.abort(CANCELLED),
    async slotFree() {
      while (runs.size >= options.runsMax && !isEnding) await Promise.race([...runs].map(({ ended }) => ended));
    },
    async end() {
      isEnding = true;
      for (const { ending } of runs) ending.abort();
      await Promise.all([...runs].map(({ ended }) => ended));
    },
  };
}

/** Of the pipeline. Throws before anything has been written. */
function checkedName({ dot, set, backend }: Submission): string {
  const reserved = Object.keys(set).find(isReservedKey);
  if (reserved !== undefined) {
    throw new HttpError(422, 'CONTEXT_KEY', `"set": ${reserved}: this key belongs to the engine`, { hint: 'choose another name' });
  }
  const { report, graph } = diagnosePipeline({ file: 'pipeline.dot', text: dot });
  if (!graph) throw unsound(report.diagnostics);
  try {
    if (backend !== undefined) backendFor(backend);
  } catch (error) {
    throw new HttpError(422, 'BACKEND_UNKNOWN', (error as Error).message);
  }
  return graph.name;
}

interface Launched {
  /** Of a run that goes on. */
  readonly id?: RunId;
  readonly name: string;
  readonly file: string;
  /** What was sent, and is not kept yet. */
  readonly dot?: string;
  readonly set: Submission['set'];
  readonly backend: string | undefined;
}

interface Run extends Launched {
  readonly signal: AbortSignal;
  readonly begun: (id: RunId) => void;
}

async function run(options: RunManagerOptions, { id: resumed, file, dot, set, backend, signal, begun }: Run): Promise<PipelineReport> {
  const { project, workingDirectory, environment, clock, log } = options;
  if (dot !== undefined) await writeUpload(file, dot);
  let id = resumed;
  let hasBegun = false;
  let diagnostics: readonly Diagnostic[] = [];
  const tell = (text: string): void =>
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
    checkpoint: false,
    people: 'remote',
    environment,
    io: { ...clock, stdin: async () => undefined, stdout: tell, stderr: tell },
    signal,
    onFindings: (findings) => (diagnostics = findings.diagnostics),
    onState: ({ runId }) => {
      if (hasBegun || runId === undefined) return; // a restart: for people it is the same run
      hasBegun = true;
      id ??= runId;
      begun(id);
    },
  });
  if (hasBegun) return report;
  if (dot !== undefined) await removeUpload(file);
  // Nothing has begun and nobody said why: it is the text, which was another one when it was sent.
  return report.error === undefined && report.notice === undefined ? { ...report, error: unsound(diagnostics) } : report;
}

/** The run ended before it began. */
function refused({ error, notice }: PipelineReport): never {
  if (notice !== undefined) throw new HttpError(409, 'RUN_FINISHED', notice);
  throw error instanceof Error ? error : new Error('a run was refused without a reason');
}

function unsound(diagnostics: readonly Diagnostic[]): HttpError {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  return new HttpError(422, 'PIPELINE_REFUSED', errors[0]?.message ?? 'the pipeline has errors', {
    diagnostics,
    hint: 'mlld validate FILE.dot says the same',
  });
}

async function writeUpload(file: string, text: string): Promise<void> {
  try {
    await withFiles((world) => world.perform('file.write', { path: file, text }));
  } catch (error) {
    if (!(error instanceof WorldError)) throw error;
    throw new HttpError(503, 'PIPELINE_JOURNAL', `The pipeline can't be kept: ${error.message}`, {
      hint: 'the folder .mlld has to be writable',
      cause: error,
    });
  }
}

async function removeUpload(file: string): Promise<void> {
  await withFiles((world) => world.perform('file.remove', { path: file }));
}

async function withFiles(act: (world: ReturnType<typeof createLiveWorld>) => Promise<unknown>): Promise<void> {
  const nowhere = { stdin: async () => undefined, stdout: () => undefined, stderr: () => undefined, environment: {} };
  const world = createLiveWorld(nowhere);
  try {
    await act(world);
  } finally {
    await world.close('the file is written');
  }
}

function ignore(): void {
  // Whoever waits for the end of a run asks for nothing else.
}
