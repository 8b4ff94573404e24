/** Finds calls with more arguments than the function takes: the rest is evaluated and lost. control.md 4. */
import type { Exe } from '../../../grammar/ast.js';
import type { ParsedScript, Rule, Violation } from '../rule.js';
import type { Declaration, Member } from '../static-scope.js';

export const callArityRule: Rule = {
  code: 'surplus-arguments',
  list: 'antiPatterns',
  check: (file) => surplusArguments(file, ({ exe }) => exe),
};

/** `exeOf` finds the function of a name: one of the file itself, or one that it imports. */
export function* surplusArguments(
  { symbols }: Pick<ParsedScript, 'symbols'>,
  exeOf: (declaration: Declaration) => Exe | undefined,
): Generator<Violation> {
  for (const use of symbols.uses) {
    const exe = use.target && exeOf(use.target);
    if (exe) yield* surplusOf(exe, use);
  }
}

/** `name` is the name of the function at the call. */
export function* surplusOf(
  exe: Exe,
  { name, at, argumentsPassed = 0, argumentsWritten = 0 }: Member & { readonly at: number },
): Generator<Violation> {
  // A value that is piped into a function without parameters is its `@input`.
  if (argumentsWritten === 0 || argumentsPassed <= exe.params.length || isAlias(exe)) return;
  const takes = exe.params.length === 0 ? 'no arguments' : exe.params.length === 1 ? '1 argument' : `${exe.params.length} arguments`;
  yield {
    at,
    message: `@${name} takes ${takes} and gets ${argumentsPassed}${argumentsPassed > argumentsWritten ? ', the piped value included' : ''}`,
  };
}

/** Returns true for `exe @f = @g`, which passes on all its arguments. */
function isAlias({ body, params }: Exe): boolean {
  return params.length === 0 && (body.kind === 'reference' || body.kind === 'pipeline');
}
