/**
 * Runs one attempt of a visit: calls the handler within its time limit and turns every way to end into a result. graph-pipelines.md 6.7,
 * 14.
 */
import type { Frame } from '../../runtime/frame.js';
import { perform } from '../../operation/perform.js';
import { concealed } from '../../runtime/secrets/secret-registry.js';
import { exceedingOutput } from '../../world/process/output.js';
import type { Stage, TimedWait } from '../stage/stage.js';
import { artifactsOf } from '../stage/artifacts.js';
import type { Handler } from '../handlers/handler.js';
import { nodeAttribute } from '../model/graph.js';
import { BranchCancelled, outcomeOf, PipelineError, StageError, type StageOutcome } from '../model/outcome.js';
import { readStatusReport, missingReport, mergeStatusReport } from '../stage/status-report.js';
import type { WalkContext } from '../stage/walk-context.js';
import type { WalkView } from '../stage/state-view.js';
import type { PipelineRuntime } from './pipeline-runtime.js';
import { withAbortSignal } from '../stage/with-abort-signal.js';

export interface AttemptResult {
  readonly node: string;
  readonly outcome: StageOutcome;
  /** True when another attempt may follow, if the budget allows one. */
  readonly mayRetry: boolean;
  readonly reason: string;
  readonly cause: 'asked' | 'error';
  /** True when a stage that requested a retry may end with a partial success instead. */
  readonly allowsPartial: boolean;
}

export interface AttemptOptions extends Pick<Stage, 'node' | 'visit' | 'attempt' | 'folder' | 'walks' | 'promptHistory'> {
  readonly run: PipelineRuntime;
  readonly handler: Handler;
  /** The frame of the node. */
  readonly frame: Frame;
  readonly walking: WalkContext;
  readonly walk: WalkView;
}

export async function attempt(options: AttemptOptions): Promise<AttemptResult> {
  const { run, node, frame, walking, walk, handler } = options;
  options.folder.remove('status.json'); // an earlier attempt or visit may have left one
  if (handler.mayReport) await options.folder.settled(); // so that what is read afterwards was written by this attempt
  const limitMs = handler.isTimed ? nodeAttribute(node, 'timeout') : undefined;
  const { path: op } = frame.op.nth('try', options.attempt);
  const limit = startLimit((about, lifted) => run.wait({ ...about, op }, lifted), limitMs, walking.signal);
  const operation = { kind: 'attempt', segment: 'try', ordinal: options.attempt, name: node.id, labels: [], inputs: [] };
  let outcome: StageOutcome | undefined;
  try {
    await perform(frame, operation, async (inner) => {
      const stage: Stage = {
        run,
        node,
        visit: options.visit,
        attempt: options.attempt,
        branch: walking.bounds?.branch,
        nodeOp: frame.op.path,
        nodeFrame: frame,
        frame: withAbortSignal(inner, limit.signal),
        folder: options.folder,
        artifacts: artifactsOf(run, { op: frame.op.path, node: node.id }),
        walks: options.walks,
        promptHistory: options.promptHistory,
        signal: limit.signal,
        context: walk.context,
        walkBranch: (branch) => run.walk(run, branch),
      };
      outcome = withoutSecrets(run, await limit.race(handled(handler, stage)));
      return outcome.status;
    });
  } catch (error) {
    return failed(options, walking, limit.isOver() ? timedOut(limitMs, error) : error);
  } finally {
    limit.lift();
  }
  if (!outcome) throw new Error(`the attempt of ${node.id} ended without an outcome`);
  const allowsPartial = nodeAttribute(node, 'allow_partial') === true;
  const reason = outcome.failure_reason || `${node.id} requested a retry`;
  return { node: node.id, outcome, mayRetry: outcome.status === 'retry', reason, cause: 'asked', allowsPartial };
}

async function handled(handler: Handler, stage: Stage): Promise<StageOutcome> {
  let own: StageOutcome | undefined;
  try {
    own = await handler.handle(stage);
  } catch (error) {
    if (!(error instanceof StageError) || !handler.mayReport || stage.signal.aborted) throw error;
    // A program that failed is never a success; its file may only choose between failing and a retry.
    const report = await readStatusReport(stage, stage.frame);
    if (report?.status !== 'fail' && report?.status !== 'retry') throw error;
    return mergeStatusReport(outcomeOf('fail', { context_updates: error.updates, failure_reason: error.message }), report);
  }
  // The time limit passed while the program was ending by itself.
  if (stage.signal.aborted) throw new StageError('transient', 'the stage was ended by its time limit', own?.context_updates);
  const report = handler.mayReport ? await readStatusReport(stage, stage.frame) : undefined;
  return own ? mergeStatusReport(own, report) : (report ?? missingReport(stage));
}

/** Turns what a handler threw into a result (VISIT-3). */
function failed({ run, node, frame }: AttemptOptions, walking: WalkContext, error: unknown): AttemptResult {
  if (frame.run.signal.aborted || error instanceof PipelineError) throw error;
  if (walking.signal.aborted) throw new BranchCancelled();
  const message = run.secretSettings.redact(error instanceof Error ? error.message : String(error));
  const updates = error instanceof StageError ? error.updates : {};
  return {
    node: node.id,
    outcome: withoutSecrets(run, outcomeOf('fail', { failure_reason: message, context_updates: updates })),
    mayRetry: error instanceof StageError ? error.kind === 'transient' : exceedingOutput(error) === undefined,
    reason: message,
    cause: 'error',
    allowsPartial: false,
  };
}

/** Hides secrets in an outcome: the context is kept in clear, and later stages are sent parts of it. */
function withoutSecrets({ secretSettings }: AttemptOptions['run'], outcome: StageOutcome): StageOutcome {
  return { ...concealed(outcome, secretSettings), status: outcome.status };
}

function timedOut(limitMs: number | undefined, error: unknown): StageError {
  return new StageError('transient', `timed out after ${limitMs} ms`, error instanceof StageError ? error.updates : {});
}

interface Limit {
  /** Aborted when the time is over, and when the walk is aborted. */
  readonly signal: AbortSignal;
  isOver(): boolean;
  /** Resolves with the work; rejects when the work does not end soon after the signal. */
  race<T>(work: Promise<T>): Promise<T>;
  lift(): void;
}

/** Work that is aborted has this long to end by itself, so that its results so far are kept. */
const GRACE_MS = 3_000;

type LimitWait = Pick<TimedWait, 'ms'> & { readonly until: 'limit' | 'unheeded' };

function startLimit(
  wait: (about: LimitWait, lifted: AbortSignal) => Promise<void>,
  limitMs: number | undefined,
  around: AbortSignal,
): Limit {
  const over = new AbortController();
  const lifted = new AbortController();
  const signal = limitMs === undefined ? around : AbortSignal.any([around, over.signal]);
  const passed = (until: LimitWait['until'], ms: number): Promise<unknown> => wait({ until, ms }, lifted.signal).catch(() => undefined);
  if (limitMs !== undefined) {
    void passed('limit', limitMs).then(() => {
      if (!lifted.signal.aborted) over.abort();
    });
  }
  return {
    signal,
    isOver: () => over.signal.aborted && !around.aborted,
    race: (work) => Promise.race([work, ignored(signal, lifted.signal, () => passed('unheeded', GRACE_MS))]),
    lift: () => lifted.abort(),
  };
}

/** Rejects when the grace after an abort is over. Never settles once the limit is lifted. */
async function ignored(signal: AbortSignal, lifted: AbortSignal, graceIsOver: () => Promise<unknown>): Promise<never> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true, signal: lifted });
  });
  await graceIsOver();
  throw new StageError('transient', 'the stage did not end after its time limit');
}
