/** Declares lint rules and their findings. graph-pipelines.md 5.3. */
import type { Graph, GraphEdge, GraphNode } from '../model/graph.js';

export type Severity = 'error' | 'warning' | 'info';

export interface Finding {
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
  /** The id of the node in question. */
  readonly node?: string;
  /** The ends of the edge in question. */
  readonly edge?: readonly [from: string, to: string];
  /** Offset into the text of the graph. */
  readonly at: number;
  /** Says how to remedy it. */
  readonly fix?: string;
}

/** Names that an embedding program has added to the built-in ones, and the option `--backend`: the text of a graph has neither. */
export interface RegisteredNames {
  readonly handlers?: ReadonlySet<string>;
  /** The part of a `backend` before its colon. */
  readonly backends?: ReadonlySet<string>;
  /** Takes the place of the backends that are written. */
  readonly backend?: string;
}

/** A rule of an embedding program; it puts its own name into its findings. */
export type CustomRule = (graph: Graph) => Iterable<Finding>;

/** A built-in rule. Its findings get its name and, unless they set one, its severity. */
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
