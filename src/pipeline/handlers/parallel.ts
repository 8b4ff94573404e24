/** Handles a parallel node: runs its branches, each a walk of its own on a copy of the context. graph-pipelines.md 7.5. */
import { setMaxListeners } from 'node:events';
import type { Json } from '../../../journal/event.js';
import type { BranchRef } from '../../../journal/facts/pipeline-event.js';
import type { OpPath } from '../../../journal/ids.js';
import { perform } from '../../operation/perform.js';
import { nodeAttribute } from '../model/graph.js';
import { joinStatus, joinVerdict, needed, type JoinRule } from '../model/join-policy.js';
import { BranchCancelled, DECIDED, outcomeOf, StageError, type StageOutcome, type StageStatus, type Updates } from '../model/outcome.js';
import type { CompiledEdge } from '../model/compiled-pipeline.js';
import { isEngineKey, RESULTS_KEY } from '../model/context-keys.js';
import { branchOutcome } from '../stage/walk-context.js';
import type { Stage } from '../stage/stage.js';
import type { Handler } from './handler.js';

/** An element of `parallel.results`. */
export interface BranchResult {
  readonly id: string;
  readonly outcome: StageStatus;
  readonly score: number;
  readonly last_node: string;
  readonly notes: string;
  readonly failure_reason: string;
  readonly context_updates: Updates;
}

const PARALLEL_MAX = 4;

export const parallel: Handler = {
  isTimed: true,
  endsWithItsStages: true,
  async handle(stage) {
    const { run, node } = stage;
    const edges = run.pipeline.outgoing(node.id);
    const ids = run.pipeline.branchesOf(node.id);
    const rule: JoinRule = {
      join: nodeAttribute(node, 'join_policy') || 'wait_all',
      errors: nodeAttribute(node, 'error_policy') || 'continue',
      k: nodeAttribute(node, 'k') ?? 1,
    };
    const { results, cut } = await runBounded(stage, { edges, ids, rule, width: nodeAttribute(node, 'max_parallel') ?? PARALLEL_MAX });
    const ends = results.map(({ outcome }) => outcome);
    const context_updates = updatesOf(results);
    if (cut.length > 0) throw new StageError('transient', `these branches had not ended: ${cut.join(', ')}`, context_updates);
    const status = joinStatus(rule, ends);
    return outcomeOf(status, { context_updates, ...(status === 'fail' ? { failure_reason: whyFailed(rule, results) } : {}) });
  },
};

function updatesOf(results: readonly BranchResult[]): Updates {
  const count = (status: StageStatus): number => results.filter(({ outcome }) => outcome === status).length;
  return {
    [RESULTS_KEY]: results as unknown as Json,
    'parallel.branch_count': results.length,
    'parallel.success_count': count('success'),
    'parallel.fail_count': count('fail'),
  };
}

function whyFailed(rule: JoinRule, results: readonly BranchResult[]): string {
  const failed = results.find(({ outcome }) => outcome === 'fail');
  if (rule.errors === 'fail_fast' && failed) return `the branch ${failed.id} failed: ${failed.failure_reason}`;
  const ends = results.map(({ outcome }) => outcome);
  const successes = ends.filter((end) => end === 'success').length;
  if (successes === 0) return 'no branch succeeded';
  return `${successes} of ${results.length} branches succeeded, and ${needed(rule, ends)} are needed`;
}

interface Branches {
  readonly edges: readonly CompiledEdge[];
  readonly ids: readonly string[];
  readonly rule: JoinRule;
  /** Limits how many branches run at a time. */
  readonly width: number;
}

interface Joined {
  /** In the order of the branches. */
  readonly results: readonly BranchResult[];
  /** The branches that have no end because the time of the node was over before the join was decided. */
  readonly cut: readonly string[];
}

/** Cancels the branches that have not ended when the join is decided, or when the node is ended; they count as skipped. */
async function runBounded(stage: Stage, { edges, ids, rule, width }: Branches): Promise<Joined> {
  const results: (BranchResult | undefined)[] = ids.map(() => undefined);
  const { turns } = stage.run;
  const paths = ids.map((_, index) => `${stage.nodeOp}[${index}]` as OpPath);
  for (const [index, { to }] of edges.entries()) turns.arrive(paths[index] as OpPath, { of: stage.node.id, node: to }); // a path for each
  const decided = new AbortController();
  const signal = AbortSignal.any([stage.signal, decided.signal]);
  setMaxListeners(0, signal); // each branch listens, and its attempts: Node would warn of a leak at the eleventh
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < edges.length && !decided.signal.aborted) {
      const index = next++;
      const branch = { of: stage.node.id, id: ids[index] as string, index }; // index < edges.length, as below
      const result = await runBranch(stage, branch, edges[index] as CompiledEdge, signal).finally(() =>
        turns.leave(paths[index] as OpPath),
      );
      if (decided.signal.aborted || !result) return; // a branch that ends after the decision has no part in it
      results[index] = result;
      const verdict = joinVerdict(
        rule,
        results.map((known) => known?.outcome),
      );
      if (verdict !== 'open') decided.abort(DECIDED);
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(width, edges.length) }, lane));
  for (const path of paths) turns.leave(path);
  for (const lane of ended) if (lane.status === 'rejected') throw lane.reason;
  if (stage.frame.run.signal.aborted) throw new BranchCancelled();
  return {
    results: results.map((result, index) => result ?? resultOf(ids[index] as string, outcomeOf('skipped'), '', {})),
    cut: decided.signal.aborted ? [] : ids.filter((_, index) => results[index] === undefined),
  };
}

/** Returns undefined when the branch was cancelled. */
async function runBranch(stage: Stage, branch: BranchRef, edge: CompiledEdge, signal: AbortSignal): Promise<BranchResult | undefined> {
  const { run, node, walks, nodeFrame } = stage;
  const before = stage.context;
  let result: BranchResult | undefined;
  try {
    await perform(
      nodeFrame,
      { kind: 'branch', segment: 'branch', name: branch.id, labels: [], inputs: [], index: branch.index },
      async (frame) => {
        const join = run.pipeline.joinOf(node.id);
        const bounds = {
          branch,
          entry: edge.to,
          edge,
          ends: new Set([run.pipeline.exit, ...(join === undefined ? [] : [join])]),
          within: new Set([node.id, ...walks.flatMap(({ branch: around }) => (around ? [around.of] : []))]),
        };
        const end = await stage.walkBranch({ frame, signal, walks, bounds });
        const walk = end.walk;
        result = resultOf(
          branch.id,
          branchOutcome(end),
          walk?.current ?? '',
          walk ? changes(before, walk.context) : {},
          walk?.context['score'],
        );
        return null;
      },
    );
  } catch (error) {
    if (!(error instanceof BranchCancelled)) throw error;
  }
  return result;
}

function resultOf(
  id: string,
  { status, notes, failure_reason }: StageOutcome,
  last_node: string,
  context_updates: Updates,
  score?: Json,
): BranchResult {
  return { id, outcome: status, score: scoreOf(score), last_node, notes, failure_reason, context_updates };
}

function scoreOf(score: Json | undefined): number {
  const number = typeof score === 'string' && score.trim() !== '' ? Number(score) : score;
  return typeof number === 'number' && Number.isFinite(number) ? number : 0;
}

/** Returns the keys that the branch changed, without those of the engine. */
function changes(before: Updates, after: Updates): Updates {
  const changed = Object.entries(after).filter(
    ([key, value]) => !isEngineKey(key) && JSON.stringify(value) !== JSON.stringify(before[key]),
  );
  return Object.fromEntries(changed);
}
