/** Offers lint to embedding programs. */
import { MlldError } from '../../errors.js';
import type { Graph } from '../model/graph.js';
import { lintPipeline } from './lint.js';
import type { CustomRule, Finding } from './rule.js';

/** Returns all findings. @param rules run after the built-in ones */
export function validate(graph: Graph, rules: readonly CustomRule[] = []): readonly Finding[] {
  return lintPipeline(graph, { rules });
}

/** Returns the findings when none is an error; otherwise throws PIPELINE_INVALID with the place of the first error. */
export function validateOrThrow(graph: Graph, rules: readonly CustomRule[] = []): readonly Finding[] {
  const findings = validate(graph, rules);
  const errors = findings.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (!first) return findings;
  const more = errors.length === 1 ? '' : ` (and ${errors.length - 1} more)`;
  throw new MlldError('PIPELINE_INVALID', `${first.rule}: ${first.message}${more}`, {
    location: { file: `${graph.name}.dot`, at: first.at, text: graph.text },
    hint: first.fix,
  });
}
