/** Finds calls of names that are bound to plain values, which end a run. control.md 4. */
import { locate } from '../../../grammar/parse.js';
import type { Expression } from '../../../grammar/ast.js';
import type { Rule } from '../rule.js';
import { surelyExecuted } from '../surely-executed.js';

export const plainValuesCalledRule: Rule = {
  code: 'not-a-function',
  list: 'errors',
  *check({ script, symbols, text }) {
    // Another rule reports names with two declarations.
    const doubtful = new Set(symbols.declarations.map(({ clash }) => clash));
    let isReached: ReturnType<typeof surelyExecuted> | undefined;
    for (const { name, at, target, argumentsPassed } of symbols.uses) {
      const what = target?.value && kindOf(target.value);
      if (argumentsPassed === undefined || what === undefined || target === undefined || doubtful.has(target)) continue;
      isReached ??= surelyExecuted(script);
      const hint = `it is ${what}, bound in line ${locate(text, target.at).line}`;
      yield { at, message: `@${name} is not a function`, hint, isUnsure: !isReached(at) };
    }
  },
};

/** Returns undefined for a value that may be a function: a reference, or the result of a call. */
function kindOf(value: Expression): string | undefined {
  switch (value.kind) {
    case 'literal':
      return value.value === null ? 'null' : `a ${typeof value.value === 'string' ? 'text' : typeof value.value}`;
    case 'template':
      return 'a text';
    case 'array':
      return 'an array';
    case 'object':
      return 'an object';
    default:
      return undefined;
  }
}
