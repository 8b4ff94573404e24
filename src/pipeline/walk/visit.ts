/**
 * Visits a node: makes attempts until one is final, then commits its outcome. graph-pipelines.md 6.2 (T3, T4, T9), 6.7.
 *
 * VISIT-1 `node.started` is recorded before the handler is called, `retry.scheduled` before its delay.
 * VISIT-2 Only the last attempt is committed, in one durable step: `node.finished`.
 * VISIT-3 Whatever a handler throws becomes an outcome, except what ends the run or the branch.
 */
import type { BranchRef, PipelineFact } from '../../../journal/facts/pipeline-event.js';
import type { Frame } from '../../runtime/frame.js';
import { perform } from '../../operation/perform.js';
import { allowedUpdates } from '../model/context-keys.js';
import type { CompiledPipeline } from '../model/compiled-pipeline.js';
import { promptHistoryFor, type Arrival, type PromptHistory } from '../model/fidelity.js';
import type { PipelineRuntime } from './pipeline-runtime.js';
import { attempt as attemptOnce, type AttemptResult } from './attempt.js';
import type { Handler } from '../handlers/handler.js';
import { truncate } from '../stage/truncate.js';
import { modelSettingsOf, nodeAttribute, type GraphNode } from '../model/graph.js';
import { INITIAL_ROUTING, outcomeOf, effectiveRouting, routingOf, type StageOutcome } from '../model/outcome.js';
import { retriesOfNode } from '../model/retry-policy.js';
import type { StageFolder } from '../stage/run-folder.js';
import { renderStatus } from '../stage/status-file.js';
import type { WalkView } from '../stage/state-view.js';
import { walkOf, type WalkContext } from '../stage/walk-context.js';

const EXCERPT_CODE_POINTS = 400;

export async function visit(run: PipelineRuntime, walking: WalkContext, id: string): Promise<void> {
  const { pipeline, ledger } = run;
  const node = pipeline.node(id);
  const type = pipeline.handlerOf(id);
  const handler = run.handlers.get(type);
  if (!handler) throw new Error(`there is no handler for ${type}`);
  const before = walkOf(run, walking);
  const ordinal = before.running?.node === id ? before.running.visit : (before.visits.get(id) ?? 0);
  const promptHistory = promptHistoryFor(pipeline, id, arrivalOf(before, walking), ledger.state.degradeNext);
  await perform(walking.frame, { kind: 'node', segment: id, ordinal, name: id, labels: [], inputs: [] }, async (frame) => {
    const startedMs = frame.run.monotonicMs();
    const folder = run.folder.stage(id, branchesOfFolder(pipeline, branchesAround(walking)));
    // A parallel node that is visited again has files of the earlier visit in the folders of its branches.
    const isNew = before.running?.node !== id;
    if (isNew && (ordinal > 0 || walking.bounds)) await folder.empty();
    ledger.post(started(run, { op: frame.op.path, node, visit: ordinal, type, handler, promptHistory, walking, before }));
    const walk = walkOf(run, walking);
    const walks = [...walking.walks, walk];
    const { end, attempts } = await attemptAll({ run, handler, node, visit: ordinal, frame, walking, walk, walks, folder, promptHistory });
    const outcome = settled(run, handler, end, walk);
    folder.write('status.json', renderStatus(outcome));
    await folder.settled();
    await ledger.append(
      finished({
        run,
        frame,
        node,
        visit: ordinal,
        outcome,
        attempts,
        folder,
        walking,
        handler,
        elapsedMs: elapsedSince(frame, startedMs),
      }),
    );
    return outcome.status;
  });
}

/** Records a visit of the exit. No handler is called, and no files are written. */
export async function commitExit(run: PipelineRuntime, walking: WalkContext, id: string): Promise<void> {
  const ordinal = walkOf(run, walking).visits.get(id) ?? 0;
  await perform(walking.frame, { kind: 'node', segment: id, ordinal, name: id, labels: [], inputs: [] }, async (frame) => {
    const op = frame.op.path;
    run.ledger.post({ type: 'node.started', op, node: id, visit: ordinal, handler: run.pipeline.handlerOf(id) });
    const outcome = outcomeOf('success');
    await run.ledger.append({ type: 'node.finished', op, node: id, visit: ordinal, status: 'success', outcome, attempts: 1, elapsedMs: 0 });
    return outcome.status;
  });
}

interface Visit {
  readonly run: PipelineRuntime;
  readonly handler: Handler;
  readonly node: GraphNode;
  readonly visit: number;
  readonly frame: Frame;
  readonly walking: WalkContext;
  readonly walk: WalkView;
  readonly walks: readonly WalkView[];
  readonly folder: StageFolder;
  readonly promptHistory: PromptHistory;
}

async function attemptAll(visit: Visit): Promise<{ readonly end: AttemptResult; readonly attempts: number }> {
  const { run, node, walk, frame, walking } = visit;
  const retries = retriesOfNode(run.pipeline.graph, node);
  // Retries that were scheduled before a crash count; the attempt that was running is repeated under its number.
  for (let attempt = (walk.running?.retries ?? 0) + 1; ; attempt++) {
    const answeredBefore = walkOf(run, walking).running?.answered ?? 0;
    const end = await attemptOnce({ ...visit, attempt, answeredBefore });
    if (!end.mayRetry || attempt > retries.budget) return { end, attempts: attempt };
    const delayMs = retries.delayMs(attempt, run.random);
    const { reason, cause } = end;
    const at = { op: frame.op.path, node: node.id, visit: visit.visit };
    const answered = answeredBefore + (end.isAnswered ? 1 : 0);
    await run.ledger.append({ type: 'retry.scheduled', ...at, attempt, delayMs, reason, cause, answered }); // VISIT-1
    await run.wait({ until: 'retry', op: frame.op.nth('try', attempt + 1).path, ms: delayMs }, walking.signal);
    await frame.run.calls?.dispatcher.held(); // another process may have taken the run during the wait
  }
}

/**
 * Returns the outcome to commit: a retry that the budget does not allow becomes a failure, and a transparent node carries the routing on.
 */
function settled(run: PipelineRuntime, handler: Handler, end: AttemptResult, walk: WalkView): StageOutcome {
  const { outcome } = end;
  const updates = allowedUpdates(outcome.context_updates, (key) =>
    run.warnOnce(`${end.node} set the context key ${key}, which is reserved for the engine: the update is ignored`),
  );
  const kept = { ...outcome, context_updates: updates };
  if (outcome.status === 'retry') {
    if (end.allowsPartial) return { ...kept, status: 'partial_success' };
    const why = outcome.failure_reason === '' ? '' : `: ${outcome.failure_reason}`;
    return { ...kept, status: 'fail', failure_reason: `retries exhausted${why}` };
  }
  if (outcome.status === 'fail' && outcome.failure_reason === '') return { ...kept, failure_reason: `${end.node} failed without a reason` };
  if (!handler.isTransparent && outcome.status !== 'skipped') return kept;
  return { ...kept, carried: routingOf(walk.outcome ? effectiveRouting(walk.outcome) : INITIAL_ROUTING) };
}

/** The innermost is the last. */
function branchesAround({ bounds, walks }: WalkContext): readonly BranchRef[] {
  return [...walks.map(({ branch }) => branch), bounds?.branch].filter((branch) => branch !== undefined);
}

/** Two branches can be in a parallel node that they share at a time, and its branches then run twice. */
function branchesOfFolder({ isShared }: CompiledPipeline, branches: readonly BranchRef[]): readonly BranchRef[] {
  const isTwice = branches.some(({ of }, depth) => depth > 0 && isShared((branches[depth - 1] as BranchRef).of, of));
  return isTwice ? branches : branches.slice(-1);
}

function arrivalOf({ next, current }: WalkView, walking: WalkContext): Arrival {
  const { bounds } = walking;
  const branches = branchesAround(walking).map(({ of, id }) => `${of}.${id}`);
  // The branches in the key keep conversations apart: branches share one only where they name it.
  const from = [...branches, ...(current === undefined ? [] : [current])].join('/');
  if (bounds && current === undefined) return { fidelity: bounds.edge.fidelity, thread: bounds.edge.thread, from };
  return { fidelity: next?.fidelity, thread: next?.thread, from };
}

interface Starting {
  readonly op: Frame['op']['path'];
  readonly node: GraphNode;
  readonly visit: number;
  readonly type: string;
  readonly handler: Handler;
  readonly promptHistory: PromptHistory;
  readonly walking: WalkContext;
  /** The walk as it reached the node. */
  readonly before: WalkView;
}

function started(run: PipelineRuntime, { op, node, visit, type, handler, promptHistory, walking, before }: Starting): PipelineFact {
  const { graph } = run.pipeline;
  const callsModel = handler.callsModel && (type !== 'parallel.fan_in' || (nodeAttribute(node, 'prompt') ?? '') !== '');
  return {
    type: 'node.started',
    op,
    node: node.id,
    visit,
    handler: type,
    ...(walking.bounds ? { branch: walking.bounds.branch } : {}),
    ...(callsModel
      ? {
          fidelity: promptHistory.fidelity,
          ...(promptHistory.thread === undefined ? {} : { thread: promptHistory.thread }),
          ...modelSettingsOf(graph, node),
        }
      : {}),
    ...(type === 'parallel' ? { branches: run.pipeline.outgoing(node.id).length, ...continuedVisit(before, node.id) } : {}),
  };
}

/** Names the visit of a parallel node whose branches this one continues. */
function continuedVisit({ enterAt, isReentered, failed }: WalkView, id: string): { readonly continues?: number } {
  const broken = enterAt === id && isReentered ? failed.get(id) : undefined;
  return broken === undefined || broken.branches.size === 0 ? {} : { continues: broken.visit };
}

interface Finishing {
  readonly run: PipelineRuntime;
  readonly frame: Frame;
  readonly node: GraphNode;
  readonly visit: number;
  readonly outcome: StageOutcome;
  readonly attempts: number;
  readonly folder: StageFolder;
  readonly walking: WalkContext;
  readonly handler: Handler;
  readonly elapsedMs: number;
}

function finished({ frame, node, visit, outcome, attempts, folder, walking, handler, elapsedMs }: Finishing): PipelineFact {
  const reply = handler.callsModel ? folder.reply : undefined;
  return {
    type: 'node.finished',
    op: frame.op.path,
    node: node.id,
    visit,
    status: outcome.status,
    outcome,
    attempts,
    elapsedMs,
    ...(walking.bounds ? { branch: walking.bounds.branch } : {}),
    files: [...folder.files],
    ...(reply === undefined ? {} : { excerpt: truncate(reply, EXCERPT_CODE_POINTS) }),
  };
}

function elapsedSince(frame: Frame, startedMs: number): number {
  return Math.round((frame.run.monotonicMs() - startedMs) * 1000) / 1000;
}
