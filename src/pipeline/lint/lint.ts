/** All findings of all rules about one graph. graph-pipelines.md 5.3. */
import type { Graph } from '../model/graph.js';
import type { CustomRule, Finding, RegisteredNames } from './rule.js';
import { LINT_RULES } from './rules.js';

export interface LintOptions extends RegisteredNames {
  /** Of the embedding program; they run behind the built-in ones. */
  readonly rules?: readonly CustomRule[];
}

/** In the order of the file. */
export function lintPipeline(graph: Graph, { rules = [], ...vocabulary }: LintOptions = {}): readonly Finding[] {
  const builtIn = Object.entries(LINT_RULES).flatMap(([id, { severity, check }]) =>
    [...check(graph, vocabulary)].map((remark): Finding => ({ rule: id, severity, ...remark })),
  );
  return [...builtIn, ...rules.flatMap((rule) => [...rule(graph)])].toSorted((a, b) => a.at - b.at);
}
