/** Around the one graph of a file, and its blocks. */
import { describe, fail, isReserved, look, type ErrorContext } from './error-context.js';

export { isReserved } from './error-context.js';

const SUBGRAPHS_DEEP_MAX = 32;

export function beginning(spot: ErrorContext): false {
  const { at } = spot;
  if (look(/strict(?!\w)/iy, spot))
    fail('dot_strict', at, '`strict` is not part of a pipeline', 'leave it out: repeated edges are edges of their own');
  if (look(/graph(?!\w)/iy, spot))
    fail('dot_undirected', at, 'A pipeline is a directed graph', 'write `digraph` instead of `graph`, and `->` for edges');
  const word = look(/digraph(?!\w)/iy, spot)?.[0];
  if (word) fail('dot_syntax', at, `\`${word}\` is written in lower case`, 'write `digraph`');
  fail('dot_syntax', at, `A pipeline begins with \`digraph\`, not with ${describe(spot)}`, 'digraph name { start [shape=Mdiamond] … }');
}

export function graphName(spot: ErrorContext): false {
  const { at } = spot;
  const hint = 'write a name of letters, digits and `_`: digraph my_plan { … }';
  if (look(/\{/y, spot)) fail('dot_graph_name', at, 'The graph has no name', hint);
  if (look(/"/y, spot)) fail('dot_graph_name', at, 'The name of a graph is not quoted', hint);
  const written = look(/[^\s{]+/y, spot)?.[0];
  if (written === undefined) fail('dot_graph_name', at, 'The graph has no name', hint);
  if (isReserved(written)) fail('dot_graph_name', at, `\`${written}\` is a reserved word, not the name of a graph`, hint);
  fail('dot_graph_name', at, `\`${written}\` is not the name of a graph`, hint);
}

export function opening(spot: ErrorContext): false {
  fail('dot_syntax', spot.at, `Expected \`{\` behind the name of the graph, found ${describe(spot)}`);
}

export function behindGraph(spot: ErrorContext): false {
  const isGraph = look(/(?:strict\s+)?(?:di)?graph(?!\w)/iy, spot);
  if (isGraph) fail('dot_one_graph', spot.at, 'A file holds one graph, and here begins a second one', 'put it into a file of its own');
  const hint = look(/\}/y, spot) ? 'one `}` too many' : 'only white space and comments may follow the closing brace';
  fail('dot_one_graph', spot.at, `Found ${describe(spot)} behind the end of the graph`, hint);
}

export function subgraph(spot: ErrorContext): false {
  if (look(/-[->]/y, spot)) edgeGroup(spot);
  fail(
    'dot_syntax',
    spot.at,
    `Expected \`{\` behind \`subgraph\`, found ${describe(spot)}`,
    'write `subgraph name { … }`; the name may be left out',
  );
}

/** A true of the grammar: it asks at every block that opens. */
export function depth(spot: ErrorContext, levels: number): true {
  if (levels > SUBGRAPHS_DEEP_MAX) fail('dot_limit', spot.at, `Subgraphs are nested more than ${SUBGRAPHS_DEEP_MAX} deep`);
  return true;
}

export function edgeGroup({ at }: ErrorContext): false {
  fail('dot_edge_group', at, 'A subgraph is no end of an edge', 'write one edge for each node in it');
}
