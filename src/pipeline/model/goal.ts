/** Every `$goal` in a prompt becomes the goal of the graph: plain replacement, once, with no word boundary. */
import { graphAttribute, type Graph, type GraphNode } from './graph.js';

export function expandGoal(graph: Graph): Graph {
  const goal = graphAttribute(graph, 'goal') ?? '';
  return graph.with({ nodes: new Map([...graph.nodes].map(([id, node]) => [id, expanded(node, goal)])) });
}

function expanded(node: GraphNode, goal: string): GraphNode {
  const prompt = node.attributes.get('prompt');
  if (!prompt?.value.text.includes('$goal')) return node;
  const text = prompt.value.text.replaceAll('$goal', () => goal);
  return { ...node, attributes: new Map(node.attributes).set('prompt', { ...prompt, value: { ...prompt.value, text } }) };
}
