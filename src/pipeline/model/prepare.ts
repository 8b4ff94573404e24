/** Parses a pipeline and applies the transforms that come before lint and run. */
import { parsePipeline } from '../../../grammar/parse-dot.js';
import { graphAttribute, type Graph, type GraphNode } from './graph.js';
import { resolvePipeline } from './resolve.js';
import { applyStylesheet } from './stylesheet.js';

/** Takes a graph, does not change it, and returns one. */
export type Transform = (graph: Graph) => Graph;

/**
 * @param transforms run after the built-in ones, in this order
 * @throws SyntaxFailure when the text is no pipeline
 */
export function preparePipeline(text: string, transforms: readonly Transform[] = []): Graph {
  return [expandGoal, applyStylesheet, ...transforms].reduce(
    (graph, transform) => transform(graph),
    resolvePipeline(parsePipeline(text), text),
  );
}

/** Replaces every `$goal` in prompts with the goal of the graph: plain text, once, without regard to word boundaries. */
function expandGoal(graph: Graph): Graph {
  const goal = graphAttribute(graph, 'goal') ?? '';
  return graph.with({ nodes: new Map([...graph.nodes].map(([id, node]) => [id, expanded(node, goal)])) });
}

function expanded(node: GraphNode, goal: string): GraphNode {
  const prompt = node.attributes.get('prompt');
  if (!prompt?.value.text.includes('$goal')) return node;
  const text = prompt.value.text.replaceAll('$goal', () => goal);
  return { ...node, attributes: new Map(node.attributes).set('prompt', { ...prompt, value: { ...prompt.value, text } }) };
}
