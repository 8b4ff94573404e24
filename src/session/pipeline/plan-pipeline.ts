/**
 * `--plan` of a pipeline: predicts where a run with these options would begin, which nodes it would visit as far as that can be known, and
 * which of their model stages have recorded results. Executes, writes and records nothing.
 */
import type { CallKey, OpPath } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { isSimulated, usable, type Memo } from '../../../replay/memo/memo.js';
import { pricesOf, type CostsByFunction } from '../../../replay/resume/estimate.js';
import { pipelineState } from '../../../replay/pipeline/pipeline-state.js';
import type { Received } from '../../../replay/pipeline/received-replies.js';
import { isSimulatedStage } from '../../pipeline/backends/select-backend.js';
import type { Graph } from '../../pipeline/model/graph.js';
import { compilePipeline } from '../../pipeline/model/compiled-pipeline.js';
import { stepsAhead, type PlannedNode } from '../../pipeline/walk/steps-ahead.js';
import { workflowFor } from '../project.js';
import type { PipelineRunOptions } from './run-pipeline-options.js';
import { createLiveWorld } from '../../world/live.js';
import type { World } from '../../world/world.js';
import { withoutOwnSecrets } from '../../world/own-secrets.js';
import { readOnlyStore } from '../ports/read-only-store.js';
import { openPriorRuns } from '../ports/prior-runs.js';
import { closeWorld, openRunStore } from '../run-store.js';
import { forkSources } from './pipeline-journal.js';
import type { ResumePoint } from './history/chain.js';
import { MANAGER_TYPE } from '../../pipeline/handlers/manager-loop.js';
import type { LearnedPace } from '../../calls/dispatch/ports.js';
import { callSettings } from '../script/call-settings.js';
import { learnedPace } from '../script/learned-pace.js';
import type { BudgetVerdict } from '../script/plan/plan-budget.js';
import { costsInRuns } from '../script/plan/estimate-facts.js';
import { findResumption } from './history/resume.js';
import { requireSecrets, separateSecrets } from './secret-settings.js';
import { loadGraph } from './load-graph.js';
import { planChild } from './plan-child.js';
import { noStageCalls, stageBudget, type StageCalls } from './plan-stage-budget.js';
import { stageCosts } from './stage-costs.js';

export interface PipelinePlan {
  readonly pipeline: string;
  readonly name: string;
  /** `nothing`: the run to resume is completed. */
  readonly begins: 'anew' | 'resumed' | 'nothing';
  /** The first run of the resumed chain. `at`: it resumes at the first of `nodes`; `behind`: that one follows the last finished node. */
  readonly resume: { readonly run: string; readonly place: 'at' | 'behind' } | null;
  /** In the order of the walk. */
  readonly nodes: readonly PlannedStep[];
  /** Nodes that may follow the last of them, if only the run decides that. */
  readonly afterwards: readonly string[];
  /** Says if the budget will do for the stages that are listed; null without one, and where nothing would run. */
  readonly budget: BudgetVerdict | null;
  /** Lines that the run would write to stderr before it starts. */
  readonly notices: readonly string[];
}

export interface PlannedStep extends Omit<PlannedNode, 'op' | 'branches'> {
  /** The first nodes of the branches of a parallel node, without those that have ended. */
  readonly branches?: readonly string[];
  /** The steps of these branches, in their order. */
  readonly inBranches?: readonly PlannedBranchSteps[];
  /**
   * For a model stage. `reused`: the reply was recorded before a crash. `received`: it came back, and the guards behind the function that
   * made it judge it (calls.md 17.4). `if-same`: results are recorded, and one is reused if the call is the same. `executed`: the model is
   * called. Null for other stages.
   */
  readonly reply: 'reused' | 'received' | 'if-same' | 'executed' | null;
  /** US dollars: the median cost of the recorded replies of a model stage; null where none is known, and for other stages. */
  readonly costUsd: number | null;
  /** For a manager that starts a child pipeline. */
  readonly child?: PlannedChild;
}

/** Up to the join of the parallel node; `afterwards` as in the plan. */
export interface PlannedBranchSteps extends Pick<PipelinePlan, 'nodes' | 'afterwards'> {
  readonly branch: string;
}

/** The plan of a child, or `problem`: why it has none. */
export type PlannedChild =
  | (Pick<PipelinePlan, 'name' | 'begins' | 'nodes' | 'afterwards'> & { readonly problem?: undefined })
  | { readonly name: string; readonly problem: string };

/** Undefined if lint refused the graph. Throws the errors with which a run with these options would not start. */
export async function planPipeline(options: PipelineRunOptions): Promise<PipelinePlan | undefined> {
  const world = createLiveWorld({ ...options.io, environment: withoutOwnSecrets(options.environment), signal: options.signal });
  try {
    return await planIn(options, world, noStageCalls());
  } finally {
    await closeWorld(world, 'the plan is made');
  }
}

/** Adds the model stages to `calls`. */
async function planIn(options: PipelineRunOptions, world: World, calls: StageCalls): Promise<PipelinePlan | undefined> {
  const { graph, refusal } = await loadGraph(options, world);
  if (refusal && options.parent) throw refusal;
  if (!graph) return undefined;
  const plan = compilePipeline(graph, new Set(options.handlers?.keys() ?? []));
  const { recordable, secrets } = separateSecrets(options, graph);
  const store = readOnlyStore(await openRunStore(recordable, world));
  const notices: string[] = [];
  const io = { ...options.io, stderr: (text: string) => void notices.push(text.trimEnd()) };
  const found = options.resume === undefined ? undefined : await findResumption({ ...recordable, io }, store, plan);
  const about = { pipeline: graph.name, name: options.name, notices };
  if (found && 'notice' in found)
    return { ...about, begins: 'nothing', resume: null, nodes: [], afterwards: [], budget: null, notices: [...notices, found.notice] };
  const resumed = found && 'resumed' in found ? found.resumed : undefined;
  if (resumed) requireSecrets(resumed.state.given, secrets);
  const state = resumed?.state ?? pipelineState.initial();
  const enterAt = resumed?.enterAt ?? (found && 'enterAt' in found ? found.enterAt : undefined);
  const continuesEnd = found !== undefined && options.resume === '';
  const { nodes, afterwards } = stepsAhead(plan, state, enterAt, { continues: continuesEnd });
  const { all, real, costs, warnings } = await recordedStages(store, graph, recordable, resumed);
  notices.push(...warnings);
  const mayReuse = options.checkpoint || (options.forks ?? []).length > 0 || (resumed?.replies.size ?? 0) > 0;
  const replyOf = ({ node, op: nodeOp, callsModel }: PlannedNode): PlannedStep['reply'] => {
    if (!callsModel) return null;
    const { functions, keys, received } = isSimulatedStage(options.backend, graph, plan.node(node)) ? all : real;
    // A reply that was rejected since is there, and the call is made again.
    const isHere = ([op, { reply }]: readonly [OpPath, Received]): boolean =>
      isReplyOf(op, nodeOp) && reply !== undefined && keys.has(reply);
    if ([...state.received].some(isHere)) return 'reused';
    if (resumed && received.some((op) => isInReplyOf(op, nodeOp))) return 'received';
    return mayReuse && functions.has(`${graph.name}.${node}`) ? 'if-same' : 'executed';
  };
  const parts: StepParts = {
    calls,
    functionOf: ({ node }) => `${graph.name}.${node}`,
    replyOf,
    costOf: ({ node, callsModel }) => (callsModel ? pricesOf([{ fn: `${graph.name}.${node}` }], [costs])[0]?.medianUsd : undefined) ?? null,
    childOf: (step, isContinued) =>
      planChild({ options, plan, store, state, isContinued, notices }, step, (ofChild) => planIn(ofChild, world, calls)),
  };
  const planned = await stepsOf(parts, nodes, (place) => place === 0 && continuesEnd);
  if (afterwards.length > 0) calls.isWhole = false;
  const limits = options.parent ? undefined : callSettings(options).budget; // a child spends of the budget of its parent
  return {
    ...about,
    begins: resumed ? 'resumed' : 'anew',
    resume: resumed ? { run: state.runId ?? '', place: enterAt !== undefined || state.main.running ? 'at' : 'behind' } : null,
    nodes: planned,
    afterwards,
    budget: limits ? stageBudget(limits, calls, await learnedCosts(store, options)) : null,
  };
}

/** The costs with which the run would reserve. */
async function learnedCosts(store: JournalStore, { project, file, io }: PipelineRunOptions): Promise<LearnedPace['costs']> {
  return (await learnedPace(store, workflowFor(project, file), { current: undefined, nowMs: io.nowMs(), reserves: true })).costs;
}

interface StepParts {
  /** Gets the model stages among the steps. */
  readonly calls: StageCalls;
  functionOf(step: PlannedNode): string;
  replyOf(step: PlannedNode): PlannedStep['reply'];
  costOf(step: PlannedNode): number | null;
  childOf(step: PlannedNode, isContinued: boolean): Promise<PlannedChild | undefined>;
}

/** @param isContinued true where an earlier run began the child of a manager at this place; undefined where that is not known */
async function stepsOf(
  parts: StepParts,
  nodes: readonly PlannedNode[],
  isContinued: (place: number) => boolean | undefined,
): Promise<PlannedStep[]> {
  const steps: PlannedStep[] = [];
  for (const [place, step] of nodes.entries()) {
    const { op: _, branches, ...about } = step;
    const continued = isContinued(place);
    const child = continued === undefined ? undefined : await parts.childOf(step, continued);
    if (child?.problem !== undefined || (continued === undefined && step.handler === MANAGER_TYPE)) parts.calls.isWhole = false;
    const inBranches: PlannedBranchSteps[] = [];
    for (const { branch, isContinued: hasBegun, nodes: inner, afterwards } of branches ?? []) {
      inBranches.push({ branch, nodes: await stepsOf(parts, inner, () => (hasBegun ? undefined : false)), afterwards });
      if (afterwards.length > 0) parts.calls.isWhole = false;
    }
    const [reply, costUsd] = [parts.replyOf(step), parts.costOf(step)];
    if (reply !== null) parts.calls.stages.push({ fn: parts.functionOf(step), reply, costUsd });
    steps.push({
      ...about,
      ...(branches && { branches: inBranches.map(({ branch }) => branch), inBranches }),
      reply,
      costUsd,
      ...(child && { child }),
    });
  }
  return steps;
}

/** A reply may also be that of a call inside the stage's own. */
function isReplyOf(op: OpPath, nodeOp: string): boolean {
  return op.startsWith(`${nodeOp}/`) && /^\/try#\d+\/model#0$/.test(op.slice(nodeOp.length));
}

function isInReplyOf(op: OpPath, nodeOp: string): boolean {
  return op.startsWith(`${nodeOp}/`) && /^\/try#\d+\/model#0(?:\/|$)/.test(op.slice(nodeOp.length));
}

class UsableResults {
  /** The functions of model stages that have a usable result of this pipeline or of a fork source. */
  readonly functions = new Set<string>();
  /** The calls that have a usable result of this pipeline. */
  readonly keys = new Set<CallKey>();
  /** The calls whose results wait for the guards behind them. */
  readonly received: OpPath[] = [];
}

interface RecordedStages {
  /** Those that a simulated stage may reuse. */
  readonly all: UsableResults;
  /** Those among them that are not simulated. */
  readonly real: UsableResults;
  /** The costs of all recorded replies of the backends and models of now, also of those that are not reused or were invalidated since. */
  readonly costs: CostsByFunction;
  readonly warnings: readonly string[];
}

/** Throws as `openPriorRuns`. */
async function recordedStages(
  store: JournalStore,
  graph: Graph,
  options: PipelineRunOptions,
  { invalidated, refused }: Pick<ResumePoint, 'invalidated' | 'refused'> = { invalidated: [], refused: [] },
): Promise<RecordedStages> {
  const { project, file, workingDirectory } = options;
  const {
    loaded,
    usable: own,
    forks,
    advice: warnings,
  } = await openPriorRuns({
    store,
    project: { ...project, workingDirectory },
    workflow: workflowFor(project, file),
    cache: { checkpoint: true, forks: await forkSources(options, store) },
    declarations: { declares: () => false, knownFunctions: [] },
    onDefect: () => undefined,
    pipeline: { name: graph.name, isChild: options.parent !== undefined },
  });
  const unusable = new Set(invalidated);
  const unusableForked = new Set([...refused, ...own.memo.refused]);
  const [all, real] = [new UsableResults(), new UsableResults()];
  const add = (memo: Memo, isUnusable: (key: CallKey) => boolean, isOwn: boolean): void => {
    for (const [key, entry] of usable(memo)) {
      if (isUnusable(key)) continue;
      for (const { functions, keys } of isSimulated(memo, entry) ? [all] : [all, real]) {
        functions.add(entry.fn);
        if (isOwn) keys.add(key);
      }
    }
  };
  add(own.memo, (key) => unusable.has(key), true);
  for (const { memo } of forks) add(memo, (key) => unusableForked.has(key), false);
  const { costs: kept, others } = stageCosts([own, ...forks], graph, options);
  const earlier = await costsInRuns(
    store,
    loaded.runs,
    [...loaded.memo.called.keys()].filter((fn) => !kept.has(fn) && !others.has(fn)),
  );
  for (const [key, waiting] of own.memo.unjudged) {
    if (unusable.has(key)) continue;
    for (const { received } of isSimulated(own.memo, waiting) ? [all] : [all, real]) received.push(waiting.by.op);
  }
  return { all, real, costs: new Map([...kept, ...earlier]), warnings };
}
