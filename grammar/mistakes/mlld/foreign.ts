/** Explains what other runtimes of the language have, and this one has not. docs/not-in-the-language.md. */
import type { foreignWords } from '../../keywords.js';
import { fail, foreign, look, type ErrorContext } from './error-context.js';

type ForeignWord = (typeof foreignWords)[number];

export const insteadOf: { readonly [word in ForeignWord]: string } = Object.freeze({
  policy: 'use guards: `guard before op:sh = when [ CONDITION => deny "why" ]`',
  auth: 'hand a secret in by the environment, and label it: `var secret @key = …`',
  box: 'use a folder, `cmd:@dir { … }`, or run the whole script in a container',
  env: 'use a folder, `cmd:@dir { … }`, or run the whole script in a container',
  profiles: 'say what must be there with `needs { … }`, and choose by a flag: `if @payload.fast [ … ]`',
  sign: 'the journal has digests of what a run did; sign files by a program in `cmd { … }`',
  verify: 'the journal has digests of what a run did; verify files by a program in `cmd { … }`',
});

/** Refuses a statement that other runtimes of the language have, and says what there is instead. */
export function foreignStatement(at: number, word: string | undefined): void {
  if (word !== undefined && foreign.has(word)) fail(at, `\`${word}\` is not part of this runtime`, insteadOf[word as ForeignWord]);
}

/** Refuses `exe @f() = box @b [ … ]` and `exe @f() = prose:@c { … }`. */
export function foreignValue(context: ErrorContext): void {
  foreignStatement(context.at, look(/(box|env)(?=\s*\[|\s+@[\w.-]+\s*(?:\[|with\b))/y, context)?.[1]);
  if (look(/prose\s*:\s*@/y, context))
    fail(context.at, '`prose` is not part of this runtime', 'ask a model with a template: `exe llm @f(x) = cmd { claude -p "…" }`');
}
