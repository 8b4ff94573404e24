/** Evaluates conditions. Both sides of a clause are text and compared exactly. graph-pipelines.md 6.4. */
import type { Clause, Condition } from '../../../grammar/dot-ast.js';
import { canonicalJson } from '../../../journal/canonical.js';
import type { Json } from '../../../journal/event.js';
import type { Routing } from './outcome.js';

export interface ConditionScope {
  readonly routing: Pick<Routing, 'status' | 'preferred_label'>;
  readonly context: { readonly [key: string]: Json };
}

export function holds(condition: Condition, scope: ConditionScope): boolean {
  return condition.clauses.every((clause) => (sideOf(clause, scope) === clause.literal) === (clause.operator === '='));
}

function sideOf({ key }: Clause, { routing, context }: ConditionScope): string {
  switch (key.of) {
    case 'outcome':
      return routing.status;
    case 'preferred_label':
      return routing.preferred_label;
    case 'context': {
      const full = `context.${key.name}`;
      return textOf(Object.hasOwn(context, full) ? context[full] : Object.hasOwn(context, key.name) ? context[key.name] : undefined);
    }
  }
}

function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? canonicalJson(value) : JSON.stringify(value);
}
