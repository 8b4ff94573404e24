/** Checks goal gates, and finds the node to which an unmet gate sends the walk. graph-pipelines.md 6.6. */
import { gateStatusAfter, type GateStatus } from '../../../journal/facts/pipeline-event.js';
import { graphAttribute, nodeAttribute } from '../model/graph.js';
import type { CompiledPipeline } from '../model/compiled-pipeline.js';
import type { StateView, WalkView } from '../stage/state-view.js';

export interface GateCheck {
  readonly gates: { readonly [node: string]: GateStatus };
  /**
   * The unmet gate that was visited first, and its retry target if it has one. `within`: without a target, the parallel node of the main
   * path in whose branches a resume returns to the gate.
   */
  readonly unmet?: { readonly node: string; readonly target?: string; readonly within?: string };
}

export function checkGoalGates(pipeline: CompiledPipeline, { results, main }: Pick<StateView, 'results' | 'main'>): GateCheck {
  const gates = Object.fromEntries(pipeline.gates.map((id) => [id, gateStatusAfter(results.get(id))]));
  const node = [...results.keys()].find((id) => Object.hasOwn(gates, id) && gates[id] === 'unsatisfied');
  if (node === undefined) return { gates };
  const target = targetOf(pipeline, node);
  if (target !== undefined) return { gates, unmet: { node, target } };
  const step = stepToGate(pipeline, main, node);
  return { gates, unmet: { node, ...(step === undefined || step === node ? {} : { within: step }) } };
}

/**
 * Returns the node at which a resume enters a branch when it returns to the gates in the branches of a parallel node. Undefined for a
 * branch that it keeps as it ended.
 */
export function nodeOfGate(pipeline: CompiledPipeline, results: StateView['results'], branch: WalkView): string | undefined {
  if (branch.running) return branch.running.node;
  const unmet = pipeline.gates.filter((gate) => gateStatusAfter(results.get(gate)) === 'unsatisfied');
  const [step] = unmet.flatMap((gate) => stepToGate(pipeline, branch, gate) ?? []);
  return step;
}

/** Returns the node of the walk that is the gate or has it in branches that can be continued, whichever ended last. */
function stepToGate(pipeline: CompiledPipeline, { latest, failed }: WalkView, gate: string): string | undefined {
  const isIn = (branch: WalkView): boolean => branch.running?.node === gate || stepToGate(pipeline, branch, gate) !== undefined;
  return [...latest.keys()].findLast(
    (node) => node === gate || (waitsForAll(pipeline, node) && [...(failed.get(node)?.branches.values() ?? [])].some(isIn)),
  );
}

/** Another join may be decided by the branches that are kept, before the gate is reached. */
export function waitsForAll(pipeline: CompiledPipeline, id: string): boolean {
  if (!pipeline.has(id) || pipeline.handlerOf(id) !== 'parallel') return false;
  const node = pipeline.node(id);
  return (nodeAttribute(node, 'join_policy') || 'wait_all') === 'wait_all' && nodeAttribute(node, 'error_policy') !== 'fail_fast';
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
