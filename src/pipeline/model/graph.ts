/**
 * Represents the graph of a parsed pipeline: nodes and edges with their effective attributes, after scopes and defaults are applied. A
 * graph is immutable: a transform makes a new one with `with`.
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

/** Written attributes by key, including unknown keys. */
export type AttributeMap = ReadonlyMap<string, GraphAttribute>;

export interface GraphAttribute {
  /** Offset of the key in the file. */
  readonly at: number;
  readonly value: AttributeValue;
}

export interface GraphNode {
  readonly id: string;
  /** Offset of the node's first statement in the file. */
  readonly at: number;
  readonly attributes: AttributeMap;
  /** Classes from the node's own `class` attribute and from the labels of the subgraphs around it. */
  readonly classes: readonly string[];
  /** The class of the innermost labelled subgraph around the node; it may serve as a thread key. */
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
  /** The text of the file, to which every offset refers. */
  readonly text: string;
  readonly attributes: AttributeMap;
  /** Nodes by id, in the order of their first statements. */
  readonly nodes: ReadonlyMap<string, GraphNode>;
  /** Edges in declaration order. */
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

  /** Returns the edges that leave a node, in declaration order. */
  outgoing(id: string): readonly GraphEdge[] {
    return this.#outgoing.get(id) ?? [];
  }

  /** Returns the same graph with these parts replaced. */
  with(changes: Partial<GraphParts>): Graph {
    const { name, text, attributes, nodes, edges } = this;
    return new Graph({ name, text, attributes, nodes, edges, ...changes });
  }
}

/** Returns undefined when the attribute is missing or not of its type, which lint reports. Durations are in milliseconds. */
export function graphAttribute<K extends keyof GraphAttributes>(graph: Graph, key: K): ValueOf<GraphAttributes[K]> | undefined {
  return read(graph.attributes, key, GRAPH_ATTRIBUTES) as ValueOf<GraphAttributes[K]> | undefined;
}

export function nodeAttribute<K extends keyof NodeAttributes>(node: GraphNode, key: K): ValueOf<NodeAttributes[K]> | undefined {
  return read(node.attributes, key, NODE_ATTRIBUTES) as ValueOf<NodeAttributes[K]> | undefined;
}

export function edgeAttribute<K extends keyof EdgeAttributes>(edge: GraphEdge, key: K): ValueOf<EdgeAttributes[K]> | undefined {
  return read(edge.attributes, key, EDGE_ATTRIBUTES) as ValueOf<EdgeAttributes[K]> | undefined;
}

/** Returns the text that people see for a node. */
export function labelOf(node: GraphNode): string {
  return nodeAttribute(node, 'label') ?? node.id;
}

/** Returns undefined for a plain edge; a blank condition counts as missing. */
export function conditionOf(edge: GraphEdge): string | undefined {
  const condition = edgeAttribute(edge, 'condition') ?? '';
  return condition.trim() === '' ? undefined : condition;
}

/** Returns the retries of nodes that don't set any; undefined when the graph doesn't either. */
export function defaultMaxRetries(graph: Graph): number | undefined {
  return graphAttribute(graph, 'default_max_retries') ?? graphAttribute(graph, 'default_max_retry');
}

export interface ModelSettings {
  readonly model?: string;
  readonly provider?: string;
  readonly effort: Effort;
}

/** Resolves model settings from the node, to which the stylesheet has been applied, then from the graph, then from the model's name. */
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

/** Returns the tools that the program of a stage may use without a question. */
export function toolsOf(graph: Graph, node: GraphNode): readonly string[] {
  return nodeAttribute(node, 'tools') ?? graphAttribute(graph, 'tools') ?? [];
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
