/**
 * Writes a pipeline as text for Graphviz. Graphviz accepts less than mlld (no bare dotted keys, no bare durations) and reads some texts
 * differently (`\N` in a label, negative weights), so everything is written anew and quoted. Attributes of mlld are dropped, attributes of
 * Graphviz are passed on where they are safe in a picture (`safe-attributes.ts`), and the states of a run become colours with captions.
 */
import type { GraphStatement, Pipeline } from '../../../grammar/dot-ast.js';
import { ATTRIBUTES } from '../model/attributes.js';
import { conditionOf, edgeAttribute, labelOf, type AttributeMap, type Graph, type GraphEdge, type GraphNode } from '../model/graph.js';
import { captionOf, COLOURS, type NodeState } from './node-state.js';
import { drawingMode, plainTextOr } from './safe-attributes.js';
import { shapeOf } from '../model/shapes.js';

/** @param states by node id; a node without a state has not been visited */
export function toGraphviz(pipeline: Pipeline, graph: Graph, states?: ReadonlyMap<string, NodeState>): string {
  const lines = [
    `digraph ${quote(graph.name)} {`,
    ...foreign('graph', graph.attributes).map((attribute) => `  ${attribute};`),
    ...labelLine(graph.attributes.get('label')?.value.text ?? '', '  '),
    ...[...graph.nodes.values()].map((node) => `  ${quote(node.id)} [${nodeAttributes(node, states?.get(node.id)).join(', ')}];`),
    ...clusters(pipeline.statements, '  '),
    ...graph.edges.map((edge) => `  ${quote(edge.from)} -> ${quote(edge.to)} [${edgeAttributes(edge).join(', ')}];`),
    '}',
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function nodeAttributes(node: GraphNode, state: NodeState | undefined): readonly string[] {
  const own = foreign('node', node.attributes);
  const shape = `shape=${quote(plainTextOr(shapeOf(node), 'box'))}`;
  const classes = [...node.classes.filter((name) => plainTextOr(name, '') !== ''), ...(state ? [`state-${state.status}`] : [])];
  const named = classes.length === 0 ? [] : [`class=${quote(classes.join(' '))}`];
  if (!state) return [`label=${label([labelOf(node)])}`, shape, ...named, ...own];
  const style = plainTextOr(node.attributes.get('style')?.value.text ?? '', '');
  return [
    `label=${label([labelOf(node), captionOf(state)])}`,
    shape,
    ...named,
    ...own.filter((attribute) => !/^"(?:style|fillcolor)"=/.test(attribute)),
    `style=${quote(style === '' ? 'filled' : `${style},filled`)}`,
    `fillcolor=${quote(COLOURS[state.status])}`,
  ];
}

function edgeAttributes(edge: GraphEdge): readonly string[] {
  const condition = conditionOf(edge);
  const caption = [edgeAttribute(edge, 'label') ?? '', condition === undefined ? '' : `[${condition.trim()}]`];
  const weight = edgeAttribute(edge, 'weight') ?? 0;
  return [
    `label=${label(caption.filter((line) => line !== ''))}`,
    ...(weight > 0 ? [`weight=${weight}`] : []),
    ...(edgeAttribute(edge, 'loop_restart') === true ? ['style="dashed"'] : []),
    ...foreign('edge', edge.attributes),
  ];
}

/** Writes subgraphs with their nodes: Graphviz frames those whose names begin with `cluster`. */
function clusters(statements: readonly GraphStatement[], indent: string): readonly string[] {
  return statements.flatMap((statement) => {
    if (statement.kind !== 'subgraph') return [];
    const written = statement.statements.flatMap((inner) =>
      inner.kind === 'assignment' ? [inner.attribute] : inner.kind === 'defaults' && inner.of === 'graph' ? inner.attributes : [],
    );
    const attributes: AttributeMap = new Map(written.map((attribute) => [attribute.key, attribute]));
    const inside = `${indent}  `;
    return [
      `${indent}subgraph ${statement.name === undefined ? '' : `${quote(statement.name)} `}{`,
      ...foreign('graph', attributes).map((attribute) => `${inside}${attribute};`),
      ...labelLine(attributes.get('label')?.value.text ?? '', inside),
      ...statement.statements.flatMap((inner) => (inner.kind === 'node' ? [`${inside}${quote(inner.id)};`] : [])),
      ...clusters(statement.statements, inside),
      `${indent}}`,
    ];
  });
}

/** Returns the attributes that mlld does not read: they are meant for Graphviz, unless the key has a dot. */
function foreign(of: 'graph' | 'node' | 'edge', attributes: AttributeMap): string[] {
  return [...attributes]
    .filter(([key]) => !Object.hasOwn(ATTRIBUTES[of], key) && !key.includes('.'))
    .flatMap(([key, { value }]) => {
      const how = drawingMode(of, key, value.text);
      if (how === undefined) return [];
      return [`${quote(key)}=${how === 'text' ? label([value.text]) : quote(value.text)}`];
    });
}

function labelLine(text: string, indent: string): readonly string[] {
  return text === '' ? [] : [`${indent}label=${label([text])};`];
}

/** Doubles backslashes, because Graphviz reads escapes of its own in a label. */
function label(lines: readonly string[]): string {
  return quote(lines.join('\n').replaceAll('\\', '\\\\')).replace(/\r?\n/g, '\\n');
}

/** Takes only text without a backslash at its end, which would escape the closing quote. */
function quote(text: string): string {
  return `"${text.replaceAll('"', '\\"')}"`;
}
