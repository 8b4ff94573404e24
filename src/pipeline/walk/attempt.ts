/**
 * Runs one attempt of a visit: calls the handler within its time limit and turns every way to end into a result. graph-pipelines.md 6.7,
 * 14.
 */
import { messageOf } from '../../errors.js';
import type { Frame } from '../../runtime/frame.js';
import { perform } from '../../operation/perform.js';
import { concealed } from '../../runtime/secrets/secret-registry.js';
import { exceedingOutput } from '../../world/process/output.js';
import { WorldError } from '../../world/world.js';
import type { Stage } from '../stage/stage.js';
import { artifactsOf } from '../stage/artifacts.js';
import type { Handler } from '../handlers/handler.js';
import { nodeAttribute } from '../model/graph.js';
import { callFailureOf, type CallFailureFacts } from '../../runtime/calls/call-failure.js';
import { BranchCancelled, outcomeOf, PipelineError, StageError, type StageOutcome } from '../model/outcome.js';
import { readStatusReport, missingReport, mergeStatusReport } from '../stage/status-report.js';
import type { WalkContext } from '../stage/walk-context.js';
import type { WalkView } from '../stage/state-view.js';
import type { PipelineRuntime } from './pipeline-runtime.js';
import { GRACE_AROUND_CALL_MS, startLimit, timedOut } from '../stage/time-limit.js';
import { withAbortSignal } from '../stage/with-abort-signal.js';

export interface AttemptResult {
  readonly node: string;
  readonly outcome: StageOutcome;
  /** True when another attempt may follow, if the budget allows one. */
  readonly mayRetry: boolean;
  readonly reason: string;
  readonly cause: 'asked' | 'error';
  /** True when a model has answered it, however it ended. */
  readonly isAnswered: boolean;
  /** True when a stage that requested a retry may end with a partial success instead. */
  readonly allowsPartial: boolean;
}

export interface AttemptOptions extends Pick<
  Stage,
  'node' | 'visit' | 'attempt' | 'answeredBefore' | 'folder' | 'walks' | 'promptHistory'
> {
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
  const limitMs = handler.isTimed && !handler.limitsItsCalls ? nodeAttribute(node, 'timeout') : undefined;
  const graceMs = handler.endsWithItsStages ? Number.POSITIVE_INFINITY : handler.limitsItsCalls ? GRACE_AROUND_CALL_MS : undefined;
  const { path: op } = frame.op.nth('try', options.attempt);
  const limit = startLimit((about, lifted) => run.wait({ ...about, op }, lifted), limitMs, walking.signal, graceMs);
  const operation = { kind: 'attempt', segment: 'try', ordinal: options.attempt, name: node.id, labels: [], inputs: [] };
  let outcome: StageOutcome | undefined;
  let isAnswered = false;
  try {
    await perform(frame, operation, async (inner) => {
      const stage: Stage = {
        run,
        node,
        visit: options.visit,
        attempt: options.attempt,
        answeredBefore: options.answeredBefore,
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
        answered: () => (isAnswered = true),
        walkBranch: (branch) => run.walk(run, branch),
      };
      outcome = withoutSecrets(run, await limit.race(handled(handler, stage)));
      return outcome.status;
    });
  } catch (error) {
    return { ...failed(options, walking, limit.isOver() ? timedOut(limitMs, error) : error), isAnswered };
  } finally {
    limit.lift();
  }
  if (!outcome) throw new Error(`the attempt of ${node.id} ended without an outcome`);
  const allowsPartial = nodeAttribute(node, 'allow_partial') === true;
  const reason = outcome.failure_reason || `${node.id} requested a retry`;
  return { node: node.id, outcome, mayRetry: outcome.status === 'retry', reason, cause: 'asked', isAnswered, allowsPartial };
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
  // The run was ended, or the time limit passed, while the program was ending by itself.
  if (stage.signal.aborted && !handler.endsWithItsStages) {
    if (stage.frame.run.signal.aborted) throw new WorldError('INTERRUPTED', 'interrupted: its stage was ended');
    throw new StageError('transient', 'the stage was ended by its time limit', own?.context_updates);
  }
  const report = handler.mayReport ? await readStatusReport(stage, stage.frame) : undefined;
  return own ? mergeStatusReport(own, report) : (report ?? missingReport(stage));
}

/** Turns what a handler threw into a result (VISIT-3). */
function failed({ run, node, frame }: AttemptOptions, walking: WalkContext, error: unknown): Omit<AttemptResult, 'isAnswered'> {
  if (frame.run.signal.aborted || error instanceof PipelineError) throw error;
  if (walking.signal.aborted) throw new BranchCancelled();
  const stageError = stageErrorIn(error);
  const call = callFailureOf(error);
  const message = run.secretSettings.redact(stageError?.message ?? reasonOf(error, call, `${run.pipeline.graph.name}.${node.id}`));
  return {
    node: node.id,
    outcome: withoutSecrets(run, outcomeOf('fail', { failure_reason: message, context_updates: stageError?.updates ?? {} })),
    mayRetry: mayRetry(stageError, call) && exceedingOutput(error) === undefined,
    reason: message,
    cause: 'error',
    allowsPartial: false,
  };
}

/** The error of a call has that of its attempt as a cause. */
function stageErrorIn(error: unknown): StageError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof StageError) return cause;
  return undefined;
}

/** calls.md 17 */
const TRANSIENT: ReadonlySet<string> = new Set<CallFailureFacts['class']>([
  'rate-limit',
  'overloaded',
  'network',
  'timeout',
  'crash',
  'bad-reply',
]);

function mayRetry(stageError: StageError | undefined, call: CallFailureFacts | undefined): boolean {
  if (stageError) return stageError.kind === 'transient';
  return call === undefined || TRANSIENT.has(call.class);
}

/** The call of the stage itself is not named: its stage is. */
function reasonOf(error: unknown, call: CallFailureFacts | undefined, own: string): string {
  if (call?.fn !== own) return messageOf(error);
  return call.attempts === 1 ? call.message : `${call.message} (${call.attempts} attempts)`;
}

/** Hides secrets in an outcome: the context is kept in clear, and later stages are sent parts of it. */
function withoutSecrets({ secretSettings }: AttemptOptions['run'], outcome: StageOutcome): StageOutcome {
  return { ...concealed(outcome, secretSettings), status: outcome.status };
}
