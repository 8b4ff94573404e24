/** Finds arms of `when` and rules of guards that are never reached, because one above always matches first. control.md 9.2. */
import { locate } from '../../../grammar/parse.js';
import type { Expression, Guard, TemplatePart, TextPart, When } from '../../../grammar/ast.js';
import { eachNode } from '../each-node.js';
import type { ParsedScript, Rule, Violation } from '../rule.js';

export const unreachableArmsRule: Rule = {
  code: 'unreachable-arm',
  list: 'antiPatterns',
  check(file) {
    const found: Violation[] = [];
    eachNode(file.script.statements, (node) => {
      if (node.kind === 'when') found.push(...unreachable((node as When).entries, file));
      if (node.kind === 'guard') found.push(...unreachable((node as Guard).rules, file));
    });
    return found;
  },
};

/** Kinds of nodes that may evaluate to another value the second time. */
const IMPURE = new Set(['apply', 'method', 'load', 'load-part', 'pipeline', 'code', 'when', 'for', 'loop', 'foreach', 'new', 'denied']);

function* unreachable(entries: When['entries'] | Guard['rules'], { text }: ParsedScript): Generator<Violation> {
  const seen = new Map<string, number>();
  let always: number | undefined;
  for (const entry of entries) {
    if (entry.kind === 'let' || entry.kind === 'append-to') {
      seen.clear(); // a name may have another value from here
      continue;
    }
    const { condition, at } = entry;
    if (always !== undefined) {
      yield { at, message: `can't be reached: line ${locate(text, always).line} always matches` };
      continue;
    }
    if (condition === 'none') continue;
    if (condition === 'any' || isTrue(condition)) {
      always = at;
      continue;
    }
    const identity = identityOf(condition);
    const first = identity === undefined ? undefined : seen.get(identity);
    if (first !== undefined) yield { at, message: `can't be reached: line ${locate(text, first).line} has the same condition` };
    else if (identity !== undefined) seen.set(identity, at);
  }
}

function isTrue(condition: Expression): boolean {
  return condition.kind === 'literal' && condition.value === true;
}

/** Returns the same text for equal conditions at different positions; undefined for one that may change between evaluations. */
function identityOf(condition: Expression): string | undefined {
  let isPure = true;
  const identity = JSON.stringify(condition, (key: string, value: unknown) => {
    if (key === 'kind' && IMPURE.has(String(value))) isPure = false;
    if (key === 'at') return undefined;
    return isPlainText(value) ? value.parts.map(({ text }) => text).join('') : isText(value) ? value.value : value;
  });
  return isPure ? identity : undefined;
}

/** Recognises a text, because `'a'` and `"a"` are the same condition. */
function isText(node: unknown): node is { readonly value: string } {
  const { kind, value } = (node ?? {}) as { readonly kind?: unknown; readonly value?: unknown };
  return kind === 'literal' && typeof value === 'string';
}

function isPlainText(node: unknown): node is { readonly parts: readonly TextPart[] } {
  const { kind, parts } = (node ?? {}) as { readonly kind?: unknown; readonly parts?: readonly TemplatePart[] };
  return kind === 'template' && parts?.every((part) => part.kind === 'text') === true;
}
