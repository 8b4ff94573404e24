/** Finds names that are declared twice, which ends a run. values.md 3.1, control.md 2.3, instrumentation.md 4.1 and 5.1. */
import { locate } from '../../../../grammar/parse.js';
import type { Guard, Hook } from '../../../../grammar/ast.js';
import type { ParsedScript, Rule } from '../../rule.js';
import type { Declaration } from '../../static-scope.js';
import { topLevel } from '../../top-level.js';

export const declaredTwiceRule: Rule = {
  code: 'declared-twice',
  list: 'errors',
  *check(file) {
    yield* clashes(file, (declaration) => !declaration.isNested);
    yield* namedTwice('hook', file);
    yield* namedTwice('guard', file);
  },
};

/** Reports the same in a block or a function as a warning: a run may never reach the declaration. */
export const shadowedNameRule: Rule = {
  code: 'shadowed-name',
  list: 'antiPatterns',
  check: (file) => clashes(file, (declaration) => declaration.isNested === true),
};

function* clashes(file: ParsedScript, concerns: (declaration: Declaration) => boolean): ReturnType<Rule['check']> {
  for (const declaration of file.symbols.declarations) {
    const { name, at, clash } = declaration;
    if (!clash || !concerns(declaration)) continue;
    const what = clash.kind === 'param' ? 'is a parameter of this function' : `is already declared in ${lineOf(clash.at, file)}`;
    yield { at, message: `@${name} ${what}`, hint: 'names are declared once; choose another name' };
  }
}

function* namedTwice(kind: 'hook' | 'guard', file: ParsedScript): ReturnType<Rule['check']> {
  const first = new Map<string, number>();
  for (const statement of topLevel(file.script)) {
    if (statement.kind !== kind) continue;
    const { name, at } = statement satisfies Hook | Guard;
    if (name === undefined) continue;
    const known = first.get(name);
    if (known === undefined) first.set(name, at);
    else yield { at, message: `The ${kind} @${name} is already declared in ${lineOf(known, file)}`, hint: 'choose another name' };
  }
}

function lineOf(at: number, { text }: ParsedScript): string {
  return `line ${locate(text, at).line}`;
}
