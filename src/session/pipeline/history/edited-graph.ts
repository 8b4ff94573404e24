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

function requireWalkable(plan: CompiledPipeline, walk: WalkView): void {
  if (walk.running) requireNode(plan, walk.running.node);
  else if (walk.current !== undefined && !plan.has(walk.current) && !(walk.next && plan.has(walk.next.to))) requireNode(plan, walk.current);
  for (const branch of walk.branches.values()) requireWalkable(plan, branch);
}

function requireNode(plan: CompiledPipeline, node: string): void {
  if (!plan.has(node)) throw refused(`the node ${node}, at which the run would continue, is not in the graph any more`);
}

function refused(why: string): MlldError {
  return new MlldError('RESUME_GRAPH', `--resume: ${why}`, { hint: 'undo the edit, or start anew without --resume' });
}
