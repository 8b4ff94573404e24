import { writtenConditions } from '../../written-conditions.js';
import type { LintRule } from '../../rule.js';

/** Requires that the conditions of edges and the stop conditions of managers parse. */
export const conditionSyntax: LintRule = {
  severity: 'error',
  *check(graph) {
    for (const { parsed, about, owner, offsetInFile } of writtenConditions(graph)) {
      if (parsed.ok) continue;
      const { message, hint, at } = parsed.failure;
      yield { message: `${owner}: ${message}`, ...about, at: offsetInFile(at), ...(hint !== undefined && { fix: hint }) };
    }
  },
};
