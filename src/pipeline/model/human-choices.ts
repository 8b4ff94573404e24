/** What a person may choose at a human gate: its plain edges, in order. A conditional edge is no choice. graph-pipelines.md 7.4. */
import { acceleratorOf, choiceFor, type Choice } from './labels.js';
import { conditionOf, edgeAttribute, nodeAttribute, type Graph, type GraphEdge, type GraphNode } from './graph.js';

/** A choice, and the edge that it stands for. */
export interface EdgeChoice extends Choice {
  readonly edge: GraphEdge;
}

export function choicesOf(graph: Graph, gate: GraphNode): readonly EdgeChoice[] {
  return graph
    .outgoing(gate.id)
    .filter((edge) => conditionOf(edge) === undefined)
    .map((edge) => {
      const label = edgeAttribute(edge, 'label') || edge.to;
      return { key: acceleratorOf(label), label, target: edge.to, edge };
    });
}

/** What `human.default_choice` means: a target's id first, then as an answer would be read. Undefined when it fits nothing. */
export function defaultChoice(gate: GraphNode, choices: readonly Choice[]): Choice | undefined {
  const written = nodeAttribute(gate, 'human.default_choice') ?? '';
  return choices.find(({ target }) => target === written) ?? choiceFor(written, choices);
}
