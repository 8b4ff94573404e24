/**
 * Finds a `foreach` with fewer arrays than the function has parameters, which ends a run. The rule `surplus-arguments` reports too many.
 * control.md 13.
 */
import type { Foreach } from '../../../grammar/ast.js';
import { eachNode } from '../each-node.js';
import type { Rule } from '../rule.js';

export const missingArraysRule: Rule = {
  code: 'missing-arrays',
  list: 'antiPatterns',
  *check({ script, symbols }) {
    const used = new Map(symbols.uses.map((use) => [use.at, use]));
    for (const { call } of foreachIn(script.statements)) {
      const { argumentsPassed, target } = used.get(call.at) ?? {};
      const exe = target?.exe;
      if (!exe || argumentsPassed === undefined || argumentsPassed >= exe.params.length) continue;
      const { length: needed } = exe.params;
      yield { at: call.at, message: `foreach @${call.name} needs ${needed} arrays, one for each parameter, but has ${argumentsPassed}` };
    }
  },
};

function foreachIn(tree: unknown): readonly Foreach[] {
  const found: Foreach[] = [];
  eachNode(tree, (node) => {
    if (node.kind === 'foreach') found.push(node as Foreach);
  });
  return found;
}
