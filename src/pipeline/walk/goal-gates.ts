/** Checks goal gates, and finds the node to which an unmet gate sends the walk. graph-pipelines.md 6.6. */
import { gateStatusAfter, type GateStatus } from '../../../journal/facts/pipeline-event.js';
import { graphAttribute, nodeAttribute } from '../model/graph.js';
import type { CompiledPipeline } from '../model/compiled-pipeline.js';
import type { StateView } from '../stage/state-view.js';

export interface GateCheck {
  readonly gates: { readonly [node: string]: GateStatus };
  /** The unmet gate that was visited first, and its retry target if it has one. */
  readonly unmet?: { readonly node: string; readonly target?: string };
}

export function checkGoalGates(pipeline: CompiledPipeline, { results }: StateView): GateCheck {
  const gates = Object.fromEntries(pipeline.gates.map((id) => [id, gateStatusAfter(results.get(id))]));
  const node = [...results.keys()].find((id) => Object.hasOwn(gates, id) && gates[id] === 'unsatisfied');
  if (node === undefined) return { gates };
  const target = targetOf(pipeline, node);
  return { gates, unmet: { node, ...(target === undefined ? {} : { target }) } };
}

function targetOf({ graph, node, has }: CompiledPipeline, gate: string): string | undefined {
  const targets = [
    nodeAttribute(node(gate), 'retry_target'),
    nodeAttribute(node(gate), 'fallback_retry_target'),
    graphAttribute(graph, 'retry_target'),
    graphAttribute(graph, 'fallback_retry_target'),
  ];
  return targets.find((target) => target !== undefined && has(target));
}
