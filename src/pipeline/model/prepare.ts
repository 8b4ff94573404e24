/** What happens to a pipeline before lint and run: text to graph, then the transforms in their order. */
import { parsePipeline } from '../../../grammar/parse-dot.js';
import type { Graph } from './graph.js';
import { resolvePipeline } from './resolve.js';
import { expandGoal } from './goal.js';
import { applyStylesheet } from './stylesheet.js';

/** Gets a graph, leaves it alone and returns one. */
export type Transform = (graph: Graph) => Graph;

/**
 * @param transforms of the embedding program, run behind the built-in ones in this order
 * @throws SyntaxFailure when the text is no pipeline
 */
export function preparePipeline(text: string, transforms: readonly Transform[] = []): Graph {
  return [expandGoal, applyStylesheet, ...transforms].reduce(
    (graph, transform) => transform(graph),
    resolvePipeline(parsePipeline(text), text),
  );
}
