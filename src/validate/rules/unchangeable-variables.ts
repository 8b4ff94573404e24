/** Finds `@x += …` that a run refuses, whatever the value. control.md 2.4, 2.5 and 12. */
import type { Rule } from '../rule.js';
import { surelyExecuted } from '../surely-executed.js';

export const unchangeableVariablesRule: Rule = {
  code: 'unchangeable',
  list: 'errors',
  *check({ script, symbols }) {
    if (symbols.changes.length === 0) return;
    const isReached = surelyExecuted(script);
    for (const { name, at, target, owner, isShared } of symbols.changes) {
      if (isShared) {
        yield {
          at,
          message: `@${name} can't be changed with += inside a parallel loop: it is declared outside the loop`,
          hint: 'return the value with `=>` and use the result of the loop',
          isUnsure: !isReached(at),
        };
      } else if (target.kind === 'var' && owner === 'local') {
        yield {
          at,
          message: `@${name} is declared with var and can't be changed with +=`,
          hint: 'declare it with let',
          isUnsure: !isReached(at),
        };
      }
    }
  },
};
