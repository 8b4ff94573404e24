/** Explains mistakes around the one graph of a file, and its blocks. */
import { describe, fail, isReserved, look, type ErrorContext } from './error-context.js';

export { isReserved } from './error-context.js';

const SUBGRAPHS_DEEP_MAX = 32;

export function beginning(context: ErrorContext): false {
  const { at } = context;
  if (look(/strict(?!\w)/iy, context))
    fail('dot_strict', at, '`strict` is not part of a pipeline', 'leave it out: repeated edges are edges of their own');
  if (look(/graph(?!\w)/iy, context))
    fail('dot_undirected', at, 'A pipeline is a directed graph', 'write `digraph` instead of `graph`, and `->` for edges');
  const word = look(/digraph(?!\w)/iy, context)?.[0];
  if (word) fail('dot_syntax', at, `\`${word}\` is written in lower case`, 'write `digraph`');
  fail('dot_syntax', at, `A pipeline begins with \`digraph\`, not with ${describe(context)}`, 'digraph name { start [shape=Mdiamond] … }');
}

export function graphName(context: ErrorContext): false {
  const { at } = context;
  const hint = 'write a name of letters, digits and `_`: digraph my_plan { … }';
  if (look(/\{/y, context)) fail('dot_graph_name', at, 'The graph has no name', hint);
  if (look(/"/y, context)) fail('dot_graph_name', at, 'The name of a graph is not quoted', hint);
  const written = look(/[^\s{]+/y, context)?.[0];
  if (written === undefined) fail('dot_graph_name', at, 'The graph has no name', hint);
  if (isReserved(written)) fail('dot_graph_name', at, `\`${written}\` is a reserved word, not the name of a graph`, hint);
  fail('dot_graph_name', at, `\`${written}\` is not the name of a graph`, hint);
}

export function opening(context: ErrorContext): false {
  fail('dot_syntax', context.at, `Expected \`{\` after the name of the graph, found ${describe(context)}`);
}

export function behindGraph(context: ErrorContext): false {
  const isGraph = look(/(?:strict\s+)?(?:di)?graph(?!\w)/iy, context);
  if (isGraph) fail('dot_one_graph', context.at, 'A file holds one graph, and here begins a second one', 'put it into a file of its own');
  const hint = look(/\}/y, context) ? 'one `}` too many' : 'only white space and comments may follow the closing brace';
  fail('dot_one_graph', context.at, `Found ${describe(context)} after the end of the graph`, hint);
}

export function subgraph(context: ErrorContext): false {
  if (look(/-[->]/y, context)) edgeGroup(context);
  fail(
    'dot_syntax',
    context.at,
    `Expected \`{\` after \`subgraph\`, found ${describe(context)}`,
    'write `subgraph name { … }`; the name may be left out',
  );
}

/** Called by the grammar at every block that opens; returns true within the limit. */
export function depth(context: ErrorContext, levels: number): true {
  if (levels > SUBGRAPHS_DEEP_MAX) fail('dot_limit', context.at, `Subgraphs are nested more than ${SUBGRAPHS_DEEP_MAX} deep`);
  return true;
}

export function edgeGroup({ at }: ErrorContext): false {
  fail('dot_edge_group', at, 'A subgraph is not an end of an edge', 'write one edge for each node in it');
}
