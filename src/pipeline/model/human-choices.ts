/** Derives the choices of a human gate from its edges. graph-pipelines.md 7.4. */
import { acceleratorOf, choiceFor, type Choice } from './labels.js';
import { conditionOf, edgeAttribute, nodeAttribute, type Graph, type GraphEdge, type GraphNode } from './graph.js';

/** A choice with the edge that it takes. */
export interface EdgeChoice extends Choice {
  readonly edge: GraphEdge;
}

/** Returns a choice for each edge without a condition, in the order of the edges. */
export function choicesOf(graph: Graph, gate: GraphNode): readonly EdgeChoice[] {
  return graph
    .outgoing(gate.id)
    .filter((edge) => conditionOf(edge) === undefined)
    .map((edge) => {
      const label = edgeAttribute(edge, 'label') || edge.to;
      return { key: acceleratorOf(label), label, target: edge.to, edge };
    });
}

/** Reads `human.default_choice` as the id of a target, else as an answer. Returns undefined when it fits no choice. */
export function defaultChoice(gate: GraphNode, choices: readonly Choice[]): Choice | undefined {
  const written = nodeAttribute(gate, 'human.default_choice') ?? '';
  return choices.find(({ target }) => target === written) ?? choiceFor(written, choices);
}
