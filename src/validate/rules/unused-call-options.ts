/**
 * Finds options about llm calls (`writes`, `key`, `retries`, …) of functions whose calls never have the label `llm`: they have no effect
 * there. The label may be at the call too: `var llm @x = @draw("sea")`. checkpoint-resume.md 4.
 */
import type { Exe, Expression } from '../../../grammar/ast.js';
import { CALL_OPTIONS } from '../../../grammar/mlld/build/exe-options.js';
import { eachNode } from '../each-node.js';
import { exportList } from '../exports.js';
import type { ParsedScript, Rule } from '../rule.js';
import type { Declaration } from '../static-scope.js';

export const unusedCallOptionsRule: Rule = {
  code: 'unused-call-option',
  list: 'antiPatterns',
  *check(file) {
    let mayBeLlm: ReadonlySet<Declaration> | undefined;
    for (const declaration of file.symbols.module.values()) {
      const { exe } = declaration;
      if (!exe || exe.labels.includes('llm')) continue;
      for (const { name, at } of exe.options) {
        if (!(CALL_OPTIONS as readonly string[]).includes(name)) continue;
        mayBeLlm ??= calledAsLlm(file);
        if (!mayBeLlm.has(declaration))
          yield { at, message: `\`${name}\` has no effect: no call of @${exe.name} has the label llm`, hint: hintFor(exe) };
      }
    }
  },
};

function hintFor({ labels, name }: Exe): string {
  return `exe ${['llm', ...labels].join(', ')} @${name}`;
}

/** Returns functions that may be called as `llm`: exported ones, and those used as values, which may be called by another name. */
function calledAsLlm({ script, symbols }: ParsedScript): ReadonlySet<Declaration> {
  const heads = llmHeads(script.statements);
  const exported = exportList(script);
  const found = new Set<Declaration>();
  for (const { at, target, argumentsPassed, place } of symbols.uses) {
    const isCall = argumentsPassed !== undefined || place === 'stage';
    if (target && (!isCall || heads.has(at))) found.add(target);
  }
  for (const declaration of symbols.module.values()) {
    if (exported.includes('*') || exported.includes(declaration.name)) found.add(declaration);
  }
  return found;
}

/** Returns the positions of calls that are the right side of a `var llm`. */
function llmHeads(tree: unknown): ReadonlySet<number> {
  const found = new Set<number>();
  eachNode(tree, (node) => {
    const { kind, labels, value } = node as { readonly kind?: unknown; readonly labels?: readonly string[]; readonly value?: Expression };
    if (kind === 'var' && value && labels?.includes('llm')) found.add(headOf(value).at);
  });
  return found;
}

function headOf(value: Expression): Expression {
  switch (value.kind) {
    case 'pipeline':
      return headOf(value.source);
    case 'stream':
    case 'with':
      return headOf(value.value);
    default:
      return value;
  }
}
