/**
 * A pipeline as lint and engine see it: nodes and edges with the attributes that are in force, scopes and defaults
 * worked out. Immutable: a transform makes a new graph with `with`.
 */
import type { AttributeValue } from '../../../grammar/dot-ast.js';
import {
  EDGE_ATTRIBUTES,
  GRAPH_ATTRIBUTES,
  NODE_ATTRIBUTES,
  type Effort,
  type EdgeAttributes,
  type GraphAttributes,
  type NodeAttributes,
  type ValueOf,
} from './attributes.js';

/** What was written, by key; unknown keys too. */
export type AttributeMap = ReadonlyMap<string, GraphAttribute>;

export interface GraphAttribute {
  /** Offset of the key in the file. */
  readonly at: number;
  readonly value: AttributeValue;
}

export interface GraphNode {
  readonly id: string;
  /** Of its first statement. */
  readonly at: number;
  readonly attributes: AttributeMap;
  /** Of its own `class` attribute, and derived from the labels of the subgraphs around it. */
  readonly classes: readonly string[];
  /** The class of the innermost subgraph around it that has one: a source of thread keys. */
  readonly innermostClass?: string;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly fromAt: number;
  readonly toAt: number;
  readonly attributes: AttributeMap;
}

interface GraphParts {
  readonly name: string;
  /** The file, to which every offset refers. */
  readonly text: string;
  readonly attributes: AttributeMap;
  /** In order of their first statements. */
  readonly nodes: ReadonlyMap<string, GraphNode>;
  /** In declaration order. */
  readonly edges: readonly GraphEdge[];
}

export class Graph implements GraphParts {
  readonly name: string;
  readonly text: string;
  readonly attributes: AttributeMap;
  readonly nodes: ReadonlyMap<string, GraphNode>;
  readonly edges: readonly GraphEdge[];
  readonly #outgoing: ReadonlyMap<string, readonly GraphEdge[]>;

  constructor({ name, text, attributes, nodes, edges }: GraphParts) {
    this.name = name;
    this.text = text;
    this.attributes = attributes;
    this.nodes = nodes;
    this.edges = edges;
    this.#outgoing = bySource(edges);
  }

  /** Edges that leave a node, in declaration order. */
  outgoing(id: string): readonly GraphEdge[] {
    return this.#outgoing.get(id) ?? [];
  }

  /** The same graph but for these parts. */
  with(changes: Partial<GraphParts>): Graph {
    const { name, text, attributes, nodes, edges } = this;
    return new Graph({ name, text, attributes, nodes, edges, ...changes });
  }
}

/** Undefined when it is not written, or not a value of its type (which lint refuses). Durations in milliseconds. */
export function graphAttribute<K extends keyof GraphAttributes>(graph: Graph, key: K): ValueOf<GraphAttributes[K]> | undefined {
  return read(graph.attributes, key, GRAPH_ATTRIBUTES) as ValueOf<GraphAttributes[K]> | undefined;
}

export function nodeAttribute<K extends keyof NodeAttributes>(node: GraphNode, key: K): ValueOf<NodeAttributes[K]> | undefined {
  return read(node.attributes, key, NODE_ATTRIBUTES) as ValueOf<NodeAttributes[K]> | undefined;
}

export function edgeAttribute<K extends keyof EdgeAttributes>(edge: GraphEdge, key: K): ValueOf<EdgeAttributes[K]> | undefined {
  return read(edge.attributes, key, EDGE_ATTRIBUTES) as ValueOf<EdgeAttributes[K]> | undefined;
}

/** What people are shown. */
export function labelOf(node: GraphNode): string {
  return nodeAttribute(node, 'label') ?? node.id;
}

/** Undefined for a plain edge: a blank condition is none. */
export function conditionOf(edge: GraphEdge): string | undefined {
  const condition = edgeAttribute(edge, 'condition') ?? '';
  return condition.trim() === '' ? undefined : condition;
}

/** Retries of a node that says nothing of them. Undefined when the graph says nothing either. */
export function defaultMaxRetries(graph: Graph): number | undefined {
  return graphAttribute(graph, 'default_max_retries') ?? graphAttribute(graph, 'default_max_retry');
}

export interface ModelSettings {
  readonly model?: string;
  readonly provider?: string;
  readonly effort: Effort;
}

/** Node (where the stylesheet has put its part), then graph, then what follows from the model. */
export function modelSettingsOf(graph: Graph, node: GraphNode): ModelSettings {
  const of = (key: 'llm_model' | 'llm_provider') => nodeAttribute(node, key) || graphAttribute(graph, key) || undefined;
  const model = of('llm_model');
  const provider = of('llm_provider') ?? providerOf(model ?? '');
  return {
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    effort: nodeAttribute(node, 'reasoning_effort') ?? graphAttribute(graph, 'reasoning_effort') ?? 'high',
  };
}

function bySource(edges: readonly GraphEdge[]): ReadonlyMap<string, readonly GraphEdge[]> {
  const outgoing = new Map<string, GraphEdge[]>();
  for (const edge of edges) {
    const known = outgoing.get(edge.from);
    if (known) known.push(edge);
    else outgoing.set(edge.from, [edge]);
  }
  return outgoing;
}

function providerOf(model: string): string | undefined {
  if (model.startsWith('claude')) return 'anthropic';
  if (/^(?:gpt|o[134])/.test(model)) return 'openai';
  return model.startsWith('gemini') ? 'gemini' : undefined;
}

function read<T extends { readonly [key: string]: { read(text: string): unknown } }>(
  attributes: AttributeMap,
  key: keyof T & string,
  table: T,
): unknown {
  const written = attributes.get(key);
  return written && table[key]?.read(written.value.text);
}
