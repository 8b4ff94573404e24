/** Starts, resumes and watches runs of other pipelines for manager nodes. graph-pipelines.md 7.8. */
import path from 'node:path';
import { isTaken } from '../../../journal/errors.js';
import type { OpPath, RunRef } from '../../../journal/ids.js';
import { isRunId } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { parentOf } from '../../../replay/fold/op-path.js';
import type { PipelineState } from '../../../replay/pipeline/pipeline-state.js';
import { walkFor, type VisitInRuns } from '../../../replay/pipeline/walk.js';
import { messageOf, MlldError } from '../../errors.js';
import type { ChildProgress, ChildRequest, ChildRun } from '../../pipeline/stage/child-run.js';
import type { RunTrace } from '../../runtime/recorder.js';
import type { PipelineServices } from '../../pipeline/stage/stage.js';
import { StageError } from '../../pipeline/model/outcome.js';
import { walkWithin } from '../../pipeline/stage/place-in-walk.js';
import type { Dispatcher } from '../../calls/dispatch/dispatcher.js';
import type { Stop } from '../../calls/dispatch/stop.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import { displayPath } from '../../language/paths.js';
import { workflowFor } from '../project.js';
import type { RunError } from '../user-error.js';
import type { ManagerAttempt, PipelineReport, PipelineRunOptions } from './run-pipeline-options.js';
import { childToContinue, openChain, type Chain } from './history/chain.js';

export const DEPTH_MAX = 8;

/** The interval of looks at a child that another process is ending. */
const LOOK_MS = 250;

interface Ports {
  readonly options: PipelineRunOptions;
  readonly store: JournalStore;
  readonly trace: RunTrace | undefined;
  /** `runPipeline`; passed in, so that it isn't imported back. */
  readonly runGraph: (options: PipelineRunOptions) => Promise<PipelineReport>;
  readonly stateOf: () => PipelineState;
  readonly dispatcher: Dispatcher;
  /** Resolves after this time, or when the signal is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onEnded: (report: PipelineReport) => void;
}

export function childRuns(ports: Ports): Pick<PipelineServices, 'startChild' | 'findChild'> {
  return { startChild: (request) => startChild(ports, request), findChild: (runId) => findChild(ports, runId) };
}

async function startChild(ports: Ports, request: ChildRequest, hasWaited = false): Promise<ChildRun> {
  const { options, store, trace, runGraph, stateOf, dispatcher, onEnded } = ports;
  const { node, op, isOnlyManager, file, workingDirectory } = request;
  const depth = (options.parent?.depth ?? 0) + 1;
  if (depth > DEPTH_MAX) throw new StageError('permanent', `pipelines are nested more than ${DEPTH_MAX} deep`);
  const around = stateOf();
  const run = around.runId;
  if (run === undefined) throw new Error('a child was started before its manager');
  const workflow = workflowFor(options.project, file);
  const within = walkWithin(around, { op, node, isOnlyManager });
  const parent = withoutUndefined<ManagerAttempt & { readonly depth: number }>({
    run,
    node,
    op,
    journalRun: around.journalRun,
    depth,
    visit: visitAround(around, op),
  });
  const earlier = await childToContinue(store, workflow, parent);
  if (earlier?.chain.latest.liveness === 'running') return startWhenEnded(ports, request, { child: earlier.chain.latest.ref, hasWaited });
  if (earlier && hasEnded(earlier)) return endedChild(earlier.chain.state);
  const controller = new AbortController();
  let state: PipelineState | undefined;
  const follow = watchStates();
  let refusal = 'it was refused';
  const {
    resume: _,
    runDirectory: __,
    timeoutMs: ___,
    onEvent: ____,
    onCheckpoint: _____,
    onProgress: ______,
    watchOutput: _______,
    ...inherited
  } = options;
  const begun = runGraph({
    ...inherited,
    file,
    name: displayPath(file, { workingDirectory: options.workingDirectory }),
    workingDirectory: workingDirectory ?? options.workingDirectory,
    argv: [],
    set: {},
    checkpoint: options.checkpoint,
    ...(earlier ? { resume: '' } : {}),
    signal: controller.signal,
    onFindings: ({ diagnostics }) => {
      const found = diagnostics.find(({ severity }) => severity === 'error');
      if (found) refusal = `line ${found.line}: ${found.rule}: ${found.message}`;
    },
    openStore: async () => store,
    onState: (now) => {
      state = now;
      follow.notify();
    },
    environment: trace ? { ...options.environment, TRACEPARENT: trace.operation(op) } : options.environment,
    parent: { ...parent, within, dispatcher },
  });
  const settled = begun.then(
    (report) => report,
    (error: unknown): PipelineReport => ({ status: 'failed', error: error as RunError }), // its message is read, and nothing else
  );
  await Promise.race([settled, follow.first]);
  let report: PipelineReport | undefined;
  const ended = settled.then((value) => {
    report = value;
    onEnded(value);
  });
  if (state === undefined) {
    await ended;
    const isTakenBack = earlier && report?.error instanceof MlldError && report.error.code === 'RESUME_RUNNING';
    if (isTakenBack) return startWhenEnded(ports, request, { child: earlier.chain.latest.ref, hasWaited });
    throw new StageError('permanent', `the child pipeline ${path.basename(file)} could not be started: ${reasonOf(report) ?? refusal}`);
  }
  const known = state;
  return {
    runId: known.runId ?? '',
    observe: async () => ({
      ...factsOf(known, report ? statusOf(report) : 'running', report?.error),
      ...(report?.pause && { stop: stopOf(report.pause, report.error?.cause) }),
    }),
    ended,
    interrupt: () => controller.abort('its manager node'),
    stageFolder: async () => stageFolder(options.project.root, known),
  };
}

/**
 * The process from which this run was taken still has the child: it came to itself before it heard of that. It ends the child when no paid
 * call is in flight, or its lease runs out, and what it paid for is reused then. team-store.md 4.5.
 */
async function startWhenEnded(
  ports: Ports,
  request: ChildRequest,
  { child: { run }, hasWaited }: { readonly child: RunRef; readonly hasWaited: boolean },
): Promise<ChildRun> {
  const { options, wait } = ports;
  const { node, signal } = request;
  if (!hasWaited) options.io.stderr(`${node} waits for the end of the child run ${run}, which another process still has\n`);
  await wait(LOOK_MS, signal);
  if (signal.aborted) throw new StageError('transient', `run ${run} did not end in another process`);
  return startChild(ports, request, true);
}

/** Watches a run of another process: reads its journal at every observation. */
async function findChild({ options, store }: Ports, runId: string): Promise<ChildRun | undefined> {
  const ref: RunRef | undefined = isRunId(runId) ? await store.find(runId) : undefined;
  if (!ref) return undefined;
  const look = async (): Promise<{ readonly state: PipelineState; readonly isRunning: boolean } | undefined> => {
    const latest = (await store.runs(ref.workflow)).find((file) => file.ref.run === ref.run);
    return latest && { state: (await openChain(store, latest)).state, isRunning: latest.liveness === 'running' };
  };
  return {
    runId,
    async observe() {
      const seen = await look();
      if (!seen) throw new StageError('permanent', `run ${runId} is not in the journal any more`);
      const { state, isRunning } = seen;
      const status = isRunning ? 'running' : state.status === 'completed' || state.status === 'failed' ? state.status : 'interrupted';
      return factsOf(state, status, state.error?.message);
    },
    ended: new Promise(() => undefined), // its end shows in `observe`
    interrupt: () => undefined,
    async stageFolder() {
      const seen = await look();
      return seen && stageFolder(options.project.root, seen.state);
    },
  };
}

/** A child that failed in an earlier visit of its manager is there to be continued. */
export function hasEnded({ chain, isOwn }: { readonly chain: Chain; readonly isOwn: boolean }): boolean {
  const { status } = chain.state;
  return status === 'completed' || (status === 'failed' && isOwn);
}

function visitAround({ main }: PipelineState, attempt: OpPath): VisitInRuns | undefined {
  const op = parentOf(attempt);
  const { running } = op === undefined ? main : walkFor(main, op);
  return running?.op === op ? running : undefined;
}

/** The child of this attempt had ended, and the process died before the end of its manager was recorded: nothing is executed again. */
function endedChild(state: PipelineState): ChildRun {
  return {
    runId: state.runId ?? '',
    observe: async () => factsOf(state, state.status === 'completed' ? 'completed' : 'failed', state.error?.message),
    ended: Promise.resolve(),
    interrupt: () => undefined,
    stageFolder: async () => undefined,
  };
}

/** A run whose child was taken ends as one that was taken itself: it may hear of that later than the child. */
function stopOf({ class: stopClass, lane, resetsAt, message }: NonNullable<PipelineReport['pause']>, cause: unknown): Stop {
  const resetsAtMs = resetsAt === undefined ? undefined : Date.parse(resetsAt);
  return withoutUndefined<Stop>({ class: stopClass, lane, resetsAtMs, message, error: isTaken(cause) ? cause : undefined });
}

function statusOf({ status }: PipelineReport): ChildProgress['status'] {
  return status === 'completed' || status === 'failed' || status === 'paused' ? status : 'interrupted';
}

function factsOf({ main, steps, retriesTotal }: PipelineState, status: ChildProgress['status'], error: unknown): ChildProgress {
  const outcome = status === 'completed' ? 'success' : status === 'failed' ? 'fail' : (main.outcome?.status ?? '');
  const currentNode = main.running?.node ?? main.current ?? '';
  const message = error === undefined ? undefined : messageOf(error);
  return { status, outcome, currentNode, completed: steps, retries: retriesTotal, error: message };
}

function stageFolder(root: string, { runDir, main }: PipelineState): string | undefined {
  return main.running && path.resolve(root, runDir, main.running.node);
}

/** Undefined if lint refused the pipeline. */
function reasonOf(report: PipelineReport | undefined): string | undefined {
  return report?.error instanceof Error ? report.error.message : report?.notice;
}

function watchStates(): { readonly first: Promise<void>; notify(): void } {
  let notify = (): void => undefined;
  const first = new Promise<void>((resolve) => (notify = resolve));
  return { first, notify: () => notify() };
}
