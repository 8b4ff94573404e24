import { closest } from '../../../../values/suggest.js';
import { writtenConditions } from '../../written-conditions.js';
import type { LintRule } from '../../rule.js';

const STATUSES = ['success', 'partial_success', 'retry', 'fail', 'skipped'];

/** Requires that `outcome` is compared with a status. */
export const conditionOutcome: LintRule = {
  severity: 'warning',
  *check(graph) {
    for (const { parsed, about, owner, offsetInFile } of writtenConditions(graph)) {
      if (!parsed.ok) continue;
      for (const { at, key, literal } of parsed.condition.clauses) {
        if (key.of !== 'outcome' || STATUSES.includes(literal)) continue;
        const near = closest(literal, STATUSES) ?? STATUSES.find((status) => literal.startsWith(status));
        const fix = near === undefined ? `use one of ${STATUSES.join(', ')}` : `did you mean \`${near}\`?`;
        yield { message: `${owner} compares \`outcome\` with \`${literal}\`, which is not a status`, ...about, at: offsetInFile(at), fix };
      }
    }
  },
};
