/** Refuses to resume a run whose pipeline was edited so that the run can't continue in it. graph-pipelines.md 10.3. */
import type { CompiledPipeline } from '../../../pipeline/model/compiled-pipeline.js';
import { MlldError } from '../../../errors.js';
import type { WalkView } from '../../../pipeline/stage/state-view.js';
import type { ResumePoint } from './chain.js';

/** Returns lines for stderr about visited nodes that were removed. Throws RESUME_GRAPH if the run can't continue. */
export function checkEditedGraph(plan: CompiledPipeline, { state, enterAt }: ResumePoint): readonly string[] {
  const { name } = plan.graph;
  // A damaged journal may lack the name.
  if (state.pipeline !== name && state.pipeline !== '') {
    throw refused(`the graph is called ${name} now, and the run was one of ${state.pipeline}`);
  }
  if (enterAt !== undefined) requireNode(plan, enterAt);
  else requireWalkable(plan, state.main);
  const gone = new Set(state.main.history.map(({ node_id: id }) => id).filter((id) => !plan.has(id)));
  return [...gone].map((id) => `${id} was visited and is not in the graph any more; it remains in the history`);
}

/** Throws RESUME_GRAPH if the branches of the node, which failed, can't be continued. */
export function checkFailedBranches(plan: CompiledPipeline, { failed }: WalkView, node: string): void {
  if (plan.handlerOf(node) !== 'parallel') return;
  for (const [index, branch] of failed.get(node)?.branches ?? []) {
    if (!isBranch(plan, node, { index, branch })) continue;
    requireWalkable(plan, branch);
    const at = branch.running?.node ?? branch.current;
    if (at !== undefined && plan.has(at)) checkFailedBranches(plan, branch, at);
  }
}

function requireWalkable(plan: CompiledPipeline, walk: WalkView): void {
  const { enterAt, running, current, next } = walk;
  if (enterAt !== undefined) {
    requireNode(plan, enterAt);
    checkFailedBranches(plan, walk, enterAt);
  } else if (running) requireNode(plan, running.node);
  else if (current !== undefined && !plan.has(current) && !(next && plan.has(next.to))) requireNode(plan, current);
  for (const [index, branch] of walk.branches)
    if (running && isBranch(plan, running.node, { index, branch })) requireWalkable(plan, branch);
}

/** Returns false for a branch that the node no longer has. Throws where its place is that of another one, which would get its results. */
function isBranch(
  plan: CompiledPipeline,
  parallel: string,
  { index, branch }: { readonly index: number; readonly branch: WalkView },
): boolean {
  const now = plan.handlerOf(parallel) === 'parallel' ? plan.branchesOf(parallel)[index] : undefined;
  if (now === undefined || branch.branch === undefined || branch.branch.id === now) return now !== undefined;
  const why = `the branches of ${parallel} are others now: ${now} is where ${branch.branch.id} was`;
  throw new MlldError('RESUME_GRAPH', `--resume: ${why}`, {
    hint: `undo the edit (new branches can follow the old ones), or start all of them anew: --resume ${parallel}`,
  });
}

function requireNode(plan: CompiledPipeline, node: string): void {
  if (plan.has(node)) return;
  const hint = 'undo the edit, or begin anew with --checkpoint instead, which reuses every reply that is recorded for the same walk';
  throw refused(`the node ${node}, at which the run would continue, is not in the graph any more`, hint);
}

function refused(why: string, hint = 'undo the edit, or start anew without --resume'): MlldError {
  return new MlldError('RESUME_GRAPH', `--resume: ${why}`, { hint });
}
