/** Maps the nodes of a recorded pipeline run to their states, for drawings. */
import type { RunLiveness } from '../../../../journal/store.js';
import type { PipelineState } from '../../../../replay/pipeline/pipeline-state.js';
import type { Walk } from '../../../../replay/pipeline/walk.js';
import type { NodeState } from '../../../pipeline/render/node-state.js';

/** Nodes that were not visited are absent. A node that was running when its run died is `interrupted`. */
export function nodeStates(state: PipelineState, liveness: RunLiveness): ReadonlyMap<string, NodeState> {
  const visits = (node: string): number => state.main.visits.get(node) ?? 0;
  const states = new Map<string, NodeState>();
  // A node without a status is running, which is set below, or was skipped, which leaves no outcome.
  for (const [node, status] of state.results) states.set(node, { status: status ?? 'skipped', visits: visits(node) });
  const isRunning = liveness === 'running' && state.status === undefined;
  for (const node of inFlight(state.main)) states.set(node, { status: isRunning ? 'running' : 'interrupted', visits: visits(node) });
  if (isRunning) for (const { node } of state.questions.values()) states.set(node, { status: 'waiting', visits: visits(node) });
  return states;
}

function inFlight({ running, branches }: Walk): readonly string[] {
  return [...(running ? [running.node] : []), ...[...branches.values()].flatMap(inFlight)];
}
