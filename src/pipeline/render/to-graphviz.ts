/**
 * Writes a pipeline as text for Graphviz. Graphviz accepts less than mlld (no bare dotted keys, no bare durations) and reads some texts
 * differently (`\N` in a label, negative weights), so everything is written anew and quoted. Attributes of mlld are dropped, attributes of
 * Graphviz are passed on where they are safe in a picture (`safe-attributes.ts`) and take the place of those of the theme, and the states
 * of a run become colours with captions.
 */
import type { GraphStatement, Pipeline } from '../../../grammar/dot-ast.js';
import { ATTRIBUTES } from '../model/attributes.js';
import { conditionOf, edgeAttribute, labelOf, type AttributeMap, type Graph, type GraphEdge, type GraphNode } from '../model/graph.js';
import { captionOf, COLOURS, type NodeState } from './node-state.js';
import { drawingMode, plainTextOr } from './safe-attributes.js';
import { DEFAULTS, MUTED, themeOf } from './theme.js';

/** @param states by node id; a node without a state has not been visited */
export function toGraphviz(pipeline: Pipeline, graph: Graph, states?: ReadonlyMap<string, NodeState>): string {
  const lines = [
    `digraph ${quote(graph.name)} {`,
    ...DEFAULTS.map((line) => `  ${line}`),
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
  const { kind, word, shape, style, line, lineWidth, margin } = themeOf(node);
  const own = foreign('node', node.attributes);
  const classes = [...node.classes.filter((name) => plainTextOr(name, '') !== ''), `kind-${kind}`];
  const drawn = [
    `shape=${quote(shape)}`,
    `style=${quote(style)}`,
    `color=${quote(line)}`,
    `penwidth="${state?.status === 'waiting' ? WAITING_WIDTH : lineWidth}"`,
    ...(margin === undefined ? [] : [`margin=${quote(margin)}`]),
  ];
  if (!state) {
    // A viewer leaves the colours alone that an author has chosen.
    if (own.some((attribute) => COLOURING.test(attribute))) classes.push('coloured');
    return [`label=${nodeLabel(labelOf(node), word)}`, `class=${quote(classes.join(' '))}`, ...drawn, ...own];
  }
  const chosen = plainTextOr(node.attributes.get('style')?.value.text ?? '', '');
  return [
    `label=${nodeLabel(labelOf(node), [word, captionOf(state)].filter((part) => part !== '').join(' · '))}`,
    `class=${quote([...classes, `state-${state.status}`].join(' '))}`,
    ...drawn,
    ...own.filter((attribute) => !COLOURING.test(attribute)),
    ...(chosen === '' ? [] : [`style=${quote(`${chosen},filled`)}`]),
    `fillcolor=${quote(COLOURS[state.status])}`,
  ];
}

const COLOURING = /^"(?:style|fillcolor|color|fontcolor)"=/;
/** A gate that waits for a person is what must be seen first. */
const WAITING_WIDTH = 4;

/** Sets the label in bold, and below it what the node is and its state. */
function nodeLabel(text: string, caption: string): string {
  const name = text
    .split(/\r?\n/)
    .map((line) => `<B>${markup(line === '' ? ' ' : line)}</B>`)
    .join('<BR/>');
  return `<${name}${caption === '' ? '' : `<BR/><FONT POINT-SIZE="9" COLOR="${MUTED}">${markup(caption)}</FONT>`}>`;
}

/** Leaves out what XML has no characters for, and doubles backslashes, because Graphviz reads escapes of its own here too. */
function markup(text: string): string {
  return text
    .replace(/[^\t\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replaceAll('\\', '\\\\')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
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
