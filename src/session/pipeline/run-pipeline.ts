/**
 * Puts a run of a pipeline together and sees it to its end: text, graph, past, journal, world, walk. One function of the library, the
 * sibling of `run.ts`. graph-pipelines.md 6.1, 10.3.
 *
 * R1  Nothing is recorded, and no folder made, before the graph is sound and what is to be resumed is found.
 * R2  A resumed run never writes to the journal of an earlier one.
 * R3  A run that a `loop_restart` edge ended is followed by a new one, which begins with what its line was given and nothing else.
 * R4  Of two processes that resume one chain the second finds the run that the first has begun, and is refused.
 */
import path from 'node:path';
import type { FactOf, RunStatus } from '../../../journal/event.js';
import type { CallKey, RunRef } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { checkpointOf } from '../../../replay/pipeline/checkpoint-view.js';
import { currentNode, gateStatuses, type GraphState } from '../../../replay/pipeline/graph-state.js';
import { MlldError } from '../../errors.js';
import { concealError } from '../ports/conceal.js';
import { createCheckpointFile } from '../../pipeline/walk/checkpoint-file.js';
import { isReservedKey } from '../../pipeline/model/context-keys.js';
import type { PipelineRuntime } from '../../pipeline/walk/pipeline-runtime.js';
import { handlersWith } from '../../pipeline/handlers/built-in.js';
import { PipelineError } from '../../pipeline/model/outcome.js';
import { compilePipeline, type CompiledPipeline } from '../../pipeline/model/compiled-pipeline.js';
import { createRunFolder } from '../../pipeline/stage/run-folder.js';
import { createThreads } from '../../pipeline/stage/threads.js';
import { traverse } from '../../pipeline/walk/traverse.js';
import type { WalkEnd } from '../../pipeline/stage/walk-context.js';
import type { ResultCache } from '../../runtime/result-cache.js';
import { PaidCalls } from '../../runtime/paid-calls.js';
import { SecretRegistry } from '../../runtime/secret-registry.js';
import { recordSource } from '../../operation/sources.js';
import { baseFolder } from '../project.js';
import { interviewerFor } from './interviewers.js';
import { readArtifact } from './artifact.js';
import { childRuns } from './child-runs.js';
import { frameOfPipeline, openPipelineJournal, storeOf } from './pipeline-journal.js';
import { createStateKeeper } from './ledger.js';
import { loadGraph } from './load-graph.js';
import { writeManifest } from './manifest.js';
import { pausedError, pauseOf } from '../pause-error.js';
import { isUserError } from '../user-error.js';
import { refuseForeignFolder, findResumption, lockToResume } from './history/resume.js';
import { exportSecrets, requireSecrets, separateSecrets, shortSecretWarnings, type SecretSettings } from './secret-settings.js';
import { initialContext, restartOf, startFacts, type RunBeginning, type Restart } from './run-start.js';
import { timedOut, superviseRun, type StopReason } from '../run-lifecycle.js';
import { CANCELLED, type PipelineReport, type PipelineRunOptions } from './run-pipeline-options.js';
import { randomFraction } from '../../world/host.js';
import type { World } from '../../world/world.js';

const RESTARTS_MAX = 100;

export function runPipeline(options: PipelineRunOptions): Promise<PipelineReport> {
  // The world isn't ended by the signal: the end of an interrupted run is written down like any other.
  return superviseRun(options, false, (world, ending, pause) => prepareAndRun(options, world, ending, new PaidCalls(pause)));
}

async function prepareAndRun(
  options: PipelineRunOptions,
  world: World,
  ending: AbortSignal,
  paidCalls: PaidCalls,
): Promise<PipelineReport> {
  for (const key of Object.keys(options.set)) {
    if (isReservedKey(key))
      throw new MlldError('CONTEXT_KEY', `--set ${key}: this key belongs to the engine`, { hint: 'choose another name' });
  }
  const { text, graph, refusal } = await loadGraph(options, world);
  if (!graph) return { status: 'failed', ...(refusal ? { error: refusal } : {}) };
  const store = await storeOf(options, world);
  const plan = compilePipeline(graph, new Set(options.handlers?.keys() ?? []));
  const { given, secrets } = separateSecrets(options, graph);
  for (const line of shortSecretWarnings(secrets)) options.io.stderr(`${line}\n`);
  await exportSecrets(secrets, world);
  const endTurn = await lockToResume(options, store); // R4
  try {
    const found = options.resume === undefined ? undefined : await findResumption(given, store, plan);
    if (found && 'notice' in found) return { status: 'completed', pipeline: graph.name, notice: found.notice };
    let beginning: RunBeginning = { set: given.set, ...found, number: 1 };
    if (beginning.resumed) {
      requireSecrets(beginning.resumed.state.given, secrets);
      await refuseForeignFolder(options, beginning.resumed.state, world);
    } else requireSecrets(beginning.set, secrets);
    for (;;) {
      const report = await runOnce({ options: given, secrets, world, ending, paidCalls, plan, text, store, beginning, onBegun: endTurn });
      const { restart, ...rest } = report;
      if (!restart) return rest;
      beginning = { ...restart, number: beginning.number + 1 };
    }
  } finally {
    await endTurn();
  }
}

interface SingleRun {
  /** As they may be recorded. */
  readonly options: PipelineRunOptions;
  readonly secrets: SecretSettings;
  readonly world: World;
  readonly ending: AbortSignal;
  readonly paidCalls: PaidCalls;
  readonly plan: CompiledPipeline;
  readonly text: string;
  readonly store: JournalStore;
  readonly beginning: RunBeginning;
  /** The run is in the journal: others see that it goes on. */
  readonly onBegun: () => Promise<void>;
}

async function runOnce(once: SingleRun): Promise<PipelineReport & { readonly restart?: Restart }> {
  const { world, ending, paidCalls, plan, text, store, beginning } = once;
  const secretSettings = new SecretRegistry();
  const secrets = new SecretRegistry();
  for (const value of once.secrets.values()) for (const texts of [secretSettings, secrets]) texts.add(value);
  const options = { ...once.options, set: beginning.set };
  const { io } = options;
  const { resumed } = beginning;
  const startedMs = io.monotonicMs();
  let ref: RunRef | undefined;
  const refOf = (): RunRef => ref ?? unopened();
  const lost = new Set(resumed?.state.threads);
  const keeper = createStateKeeper(resumed?.state, refOf, options.onEvent);
  const journal = await openPipelineJournal(options, {
    store,
    world,
    paidCalls,
    secrets,
    signal: ending,
    followers: [keeper.follow],
    afterStart:
      resumed && resumed.invalidated.length > 0
        ? [{ type: 'memo.invalidated', selector: options.resume ?? '', keys: resumed.invalidated }]
        : [],
    facts: (opened) => {
      ref = opened;
      return startFacts(once, opened);
    },
  });
  await once.onBegun();
  const timestamp = (): string => new Date(io.nowMs()).toISOString();
  const ledger = keeper.ledger(journal.recorder, refOf(), timestamp);
  const runDirectory = path.resolve(options.project.root, keeper.state.runDir);
  const isOwn = runDirectory.startsWith(path.join(options.project.root, '.mlld', 'graph') + path.sep);
  const folder = createRunFolder(runDirectory, world, { isOwn, hide: (written) => secretSettings.redact(written) });
  const warned = new Set<string>();
  const warnOnce = (message: string): void => {
    if (warned.has(message)) return;
    warned.add(message);
    io.stderr(`warning: ${secrets.redact(message)}\n`);
  };
  const checkpoint = createCheckpointFile({
    path: path.join(folder.path, 'checkpoint.json'),
    world,
    render: () => `${JSON.stringify(checkpointOf(keeper.state), undefined, 2)}\n`,
    recorded: journal.flush,
    monotonicMs: io.monotonicMs,
    onTrouble: (error) => warnOnce(`checkpoint.json can't be written: ${error instanceof Error ? error.message : String(error)}`),
    ...(options.onCheckpoint ? { onWritten: options.onCheckpoint } : {}),
  });
  const answers = limitReuse(journal.cache, options, keeper.state, resumed?.replies);
  const { recorder } = journal;
  const frame = await frameOfPipeline(options, { world, text, recorder, cache: answers, secrets, signal: ending, paidCalls });
  options.onState?.(keeper.state);
  const run: PipelineRuntime = {
    pipeline: plan,
    frame,
    secretSettings,
    ledger,
    folder,
    checkpoint,
    handlers: handlersWith(options.handlers ?? new Map()),
    interviewer: interviewerFor(options, world, folder.path),
    threads: createThreads(lost),
    walk: traverse,
    backend: options.backend,
    backends: options.backends ?? new Map(),
    workingDirectory: options.workingDirectory,
    fileDirectory: baseFolder(options.project, options.file),
    random: randomFraction,
    wait: async ({ ms }, signal) => void (await world.perform('clock.sleep', { ms }, { signal })),
    ...childRuns({ options, store, runGraph: runPipeline, stateOf: () => keeper.state }),
    readArtifact: async (id) => {
      await journal.flush();
      return readArtifact(store, keeper.state, id);
    },
    warnOnce,
  };
  await recordSource(frame, options.file, text, 'script');
  await writeManifest(world, {
    folder: folder.path,
    runId: keeper.state.runId ?? '',
    pipeline: plan.graph.name,
    goal: plan.goal,
    source: { path: options.name, text },
    startedAt: keeper.state.startedAt,
    resumedAt: resumed ? timestamp() : undefined,
  });
  // A run can die before its context is there, or its record be damaged: then the one that resumes it begins with what is missing.
  const { context } = keeper.state.main;
  if (!('graph.goal' in context)) {
    const missing = Object.entries(initialContext(plan, keeper.state)).filter(([key]) => !Object.hasOwn(context, key));
    ledger.post({ type: 'context.updated', op: frame.op.path, updates: Object.fromEntries(missing), by: 'start' });
  }
  await checkpoint.flush();

  const end = await walkToEnd(run, { ending, paidCalls, number: beginning.number, signal: options.signal, timeoutMs: options.timeoutMs });
  concealError(end.error, secrets);
  const totals = { ...journal.totals(), ...graphTotals(keeper.state), elapsedMs: Math.round(io.monotonicMs() - startedMs) };
  await journal.finish(finishedFact(end, totals, keeper.state));
  await checkpoint.flush();
  for (const notice of journal.notices()) io.stderr(`${notice}\n`);
  return {
    status: end.status,
    pipeline: plan.graph.name,
    journal: refOf(),
    runDirectory: folder.path,
    argv: options.argv,
    ...(end.error ? { error: end.error } : {}),
    ...(end.restartAt === undefined ? {} : { restart: restartOf(keeper.state, end.restartAt) }),
  };
}

interface Ended {
  readonly status: RunStatus;
  readonly error?: MlldError;
  readonly restartAt?: string;
}

interface Walking {
  readonly ending: AbortSignal;
  readonly paidCalls: PaidCalls;
  readonly number: number;
  /** Why somebody ended it. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number | undefined;
}

async function walkToEnd(run: PipelineRuntime, { ending, paidCalls, number, signal, timeoutMs }: Walking): Promise<Ended> {
  let end: WalkEnd;
  try {
    end = await traverse(run, { frame: run.frame, signal: ending, walks: [] });
  } catch (error) {
    if (ending.aborted) {
      const status = ending.reason as StopReason; // it is aborted with nothing else
      if (status === 'paused') return { status, error: pausedError(paidCalls) };
      if (signal.reason instanceof MlldError) return { status, error: signal.reason };
      if (signal.reason === CANCELLED) return { status, error: new MlldError('CANCELLED', 'the run was cancelled') };
      return {
        status,
        error: status === 'timed-out' ? timedOut(timeoutMs) : new MlldError('INTERRUPTED', `ended by ${String(signal.reason)}`),
      };
    }
    if (error instanceof PipelineError) return { status: 'failed', error: new MlldError('PIPELINE_LIMIT', error.message) };
    // A file of a stage that can't be written. It is the disk that took the journal as well, where no call may begin any more.
    if (paidCalls.stoppedBy) return { status: 'paused', error: pausedError(paidCalls) };
    if (isUserError(error)) return { status: 'failed', error };
    throw error;
  }
  switch (end.kind) {
    case 'completed':
      return { status: 'completed' };
    case 'failed':
      return { status: 'failed', error: new MlldError('STAGE_FAILED', end.reason) };
    case 'restarted':
      if (number > RESTARTS_MAX) return { status: 'failed', error: new MlldError('PIPELINE_LIMIT', `more than ${RESTARTS_MAX} restarts`) };
      return { status: 'restarted', restartAt: end.at };
  }
}

function finishedFact(
  { status, error, restartAt }: Ended,
  totals: FactOf<'run.finished'>['totals'],
  state: GraphState,
): FactOf<'run.finished'> {
  const node = currentNode(state);
  return {
    type: 'run.finished',
    status,
    ...(status === 'paused' ? { pause: pauseOf(error) } : error ? { error: { code: error.code, message: error.message } } : {}),
    totals,
    ...(restartAt === undefined ? {} : { next: restartAt }),
    ...(node === undefined ? {} : { node }),
    gates: gateStatuses(state),
  };
}

/**
 * Every answer is kept; earlier ones are served when that was asked for, to the very attempt that a crash cut short, and to calls that are
 * made again because what they led to is lost (`replies`).
 */
function limitReuse(
  answers: ResultCache,
  { checkpoint, forks = [] }: PipelineRunOptions,
  state: GraphState,
  replies: ReadonlySet<CallKey> = new Set(),
): ResultCache {
  if (checkpoint || forks.length > 0) return answers;
  return {
    ...answers,
    policy: () => ({ records: true, serves: true }),
    lookup: async (question) => {
      const isKept = replies.has(question.key) || [...state.received.values()].some(({ reply }) => reply === question.key);
      return isKept ? answers.lookup(question) : undefined;
    },
  };
}

function graphTotals({ main, retriesTotal, artifacts }: GraphState): {
  readonly nodes: number;
  readonly retries: number;
  readonly artifacts: number;
} {
  return { nodes: main.history.length, retries: retriesTotal, artifacts: artifacts.size };
}

function unopened(): never {
  throw new Error('the journal of the run is not open yet');
}
