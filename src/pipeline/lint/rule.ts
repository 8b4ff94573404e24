/** What a lint rule is, and what it finds. graph-pipelines.md 5.3. */
import type { Graph, GraphEdge, GraphNode } from '../model/graph.js';

export type Severity = 'error' | 'warning' | 'info';

export interface Finding {
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
  /** Id of the node that it is about. */
  readonly node?: string;
  /** Ends of the edge that it is about. */
  readonly edge?: readonly [from: string, to: string];
  /** Offset into the text of the graph. */
  readonly at: number;
  /** What to write instead. */
  readonly fix?: string;
}

/** Names that an embedding program has registered, beside the built-in ones. */
export interface RegisteredNames {
  readonly handlers?: ReadonlySet<string>;
  /** The part of a `backend` before its colon. */
  readonly backends?: ReadonlySet<string>;
}

/** A rule of a program that uses the library; its findings carry its name. */
export type CustomRule = (graph: Graph) => Iterable<Finding>;

/** A row of the table. What it finds has its name and, unless it says otherwise, its severity. */
export interface LintRule {
  readonly severity: Severity;
  check(graph: Graph, vocabulary: RegisteredNames): Iterable<RuleFinding>;
}

export interface RuleFinding extends Omit<Finding, 'rule' | 'severity'> {
  readonly severity?: Severity;
}

export function aboutNode({ id, at }: GraphNode): { readonly node: string; readonly at: number } {
  return { node: id, at };
}

export function aboutEdge({ from, to, fromAt }: GraphEdge): { readonly edge: readonly [string, string]; readonly at: number } {
  return { edge: [from, to], at: fromAt };
}
