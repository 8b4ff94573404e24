/** Finds calls with fewer arguments than parameters, where the caller has a name that fills the place. control.md 4. */
import type { Exe } from '../../../grammar/ast.js';
import { describeTaken } from '../../language/calls/missing-arguments.js';
import type { ParsedScript, Rule, Violation } from '../rule.js';
import type { Declaration } from '../static-scope.js';

export const argumentsOfTheCallerRule: Rule = {
  code: 'arguments-of-the-caller',
  list: 'antiPatterns',
  check: (file) => argumentsOfTheCaller(file, ({ exe }) => exe),
};

/** `exeOf` finds the function of a name: one of the file itself, or one that it imports. */
export function* argumentsOfTheCaller(
  { symbols }: Pick<ParsedScript, 'symbols'>,
  exeOf: (declaration: Declaration) => Exe | undefined,
): Generator<Violation> {
  for (const { name, at, target, place, argumentsPassed: got, isLocal } of symbols.uses) {
    const exe = target && exeOf(target);
    // The missing arguments of a stage are empty texts.
    if (!exe || got === undefined || place === 'stage' || isCodeBody(exe)) continue;
    const taken = exe.params.slice(got).flatMap((param) => (isLocal(param.name) ? [param.name] : []));
    if (taken.length > 0) yield { at, message: describeTaken(name, exe.params.length, got, taken), hint: 'write the arguments' };
  }
}

function isCodeBody({ body }: Exe): boolean {
  return body.kind === 'code' && body.language !== 'cmd';
}
