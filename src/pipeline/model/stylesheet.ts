/**
 * Applies the model stylesheet to nodes: each property comes from the most specific rule that matches, among equals from the later one, and
 * never replaces an attribute that the node has. A stylesheet that does not parse changes nothing; lint reports it.
 */
import { SyntaxFailure } from '../../../grammar/errors.js';
import type { StyleProperty, StyleRule, StyleSelector } from '../../../grammar/dot-ast.js';
import { parseStylesheet } from '../../../grammar/parse-dot.js';
import type { Graph, GraphAttribute, GraphNode } from './graph.js';
import { shapeOf } from './shapes.js';

const SPECIFICITY: { readonly [K in StyleSelector['kind']]: number } = { all: 0, shape: 1, class: 2, id: 3 };

export function applyStylesheet(graph: Graph): Graph {
  const stylesheet = graph.attributes.get('model_stylesheet');
  const rules = stylesheet ? rulesOf(stylesheet.value.text) : [];
  if (!stylesheet || rules.length === 0) return graph;
  // The sort is stable and the last rule wins, so among equal rules the later one does.
  const ordered = rules.toSorted((a, b) => SPECIFICITY[a.selector.kind] - SPECIFICITY[b.selector.kind]);
  return graph.with({ nodes: new Map([...graph.nodes].map(([id, node]) => [id, styled(node, ordered, stylesheet)])) });
}

function rulesOf(text: string): readonly StyleRule[] {
  if (text === '') return [];
  try {
    return parseStylesheet(text).rules;
  } catch (error) {
    if (error instanceof SyntaxFailure) return [];
    throw error;
  }
}

function styled(node: GraphNode, rules: readonly StyleRule[], { at }: GraphAttribute): GraphNode {
  const properties = new Map<StyleProperty, string>();
  for (const { selector, declarations } of rules) {
    if (!matches(selector, node)) continue;
    for (const { property, value } of declarations) properties.set(property, value);
  }
  const missing = [...properties].filter(([property]) => !node.attributes.has(property));
  if (missing.length === 0) return node;
  const attributes = new Map(node.attributes);
  for (const [property, text] of missing) attributes.set(property, { at, value: { at, kind: 'string', text } });
  return { ...node, attributes };
}

function matches(selector: StyleSelector, node: GraphNode): boolean {
  switch (selector.kind) {
    case 'all':
      return true;
    case 'shape':
      return shapeOf(node) === selector.name;
    case 'class':
      return node.classes.includes(selector.name);
    case 'id':
      return node.id === selector.name;
  }
}
