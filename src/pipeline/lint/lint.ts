/** Applies all lint rules to a graph. graph-pipelines.md 5.3. */
import type { Graph } from '../model/graph.js';
import type { CustomRule, Finding, RegisteredNames } from './rule.js';
import { LINT_RULES } from './rules.js';

export interface LintOptions extends RegisteredNames {
  /** Rules of the embedding program; they run after the built-in ones. */
  readonly rules?: readonly CustomRule[];
}

/** Returns the findings in the order of the file. */
export function lintPipeline(graph: Graph, { rules = [], ...vocabulary }: LintOptions = {}): readonly Finding[] {
  const builtIn = Object.entries(LINT_RULES).flatMap(([id, { severity, check }]) =>
    [...check(graph, vocabulary)].map((finding): Finding => ({ rule: id, severity, ...finding })),
  );
  return [...builtIn, ...rules.flatMap((rule) => [...rule(graph)])].toSorted((a, b) => a.at - b.at);
}
