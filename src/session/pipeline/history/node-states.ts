/** What came of each node of a recorded pipeline run, for drawings. */
import type { RunLiveness } from '../../../../journal/store.js';
import type { GraphState } from '../../../../replay/pipeline/graph-state.js';
import type { Walk } from '../../../../replay/pipeline/walk.js';
import type { NodeState } from '../../../pipeline/render/node-state.js';

/** By node id; nodes that were not visited are absent. A node that had begun when its run died is `interrupted`. */
export function nodeStates(state: GraphState, liveness: RunLiveness): ReadonlyMap<string, NodeState> {
  const visits = (node: string): number => state.main.visits.get(node) ?? 0;
  const states = new Map<string, NodeState>();
  // Without a status a node has begun and not ended, or was skipped, which leaves no outcome.
  for (const [node, status] of state.results) states.set(node, { status: status ?? 'skipped', visits: visits(node) });
  const isRunning = liveness === 'running' && state.status === undefined;
  for (const node of begun(state.main)) states.set(node, { status: isRunning ? 'running' : 'interrupted', visits: visits(node) });
  return states;
}

function begun({ running, branches }: Walk): readonly string[] {
  return [...(running ? [running.node] : []), ...[...branches.values()].flatMap(begun)];
}
