/** Converts arguments of methods and transformers. */
import { MlldError } from '../../errors.js';
import { aKind } from '../kinds/kind.js';
import { toNumber } from '../numbers.js';
import { textOf } from '../text.js';
import type { Value } from '../value.js';

/** A regular expression is written `/…/` and is not a value of the language. */
export type Argument = Value | RegExp;

/** The call as written in the source, for messages. */
export interface MethodCall {
  readonly method: string;
  readonly written: string;
}

export function textArgument(argument: Argument, call: MethodCall): string {
  if (argument === undefined) throw badArgument(call, 'needs a text, and the argument is missing');
  if (argument instanceof RegExp) throw badArgument(call, 'needs a text, not a regular expression');
  return textOf(argument);
}

export function valueArgument(argument: Argument, call: MethodCall): Value {
  if (argument instanceof RegExp) throw badArgument(call, 'takes no regular expression');
  return argument;
}

/** Returns `undefined` for an argument that was not passed. Truncates fractions, as the host does everywhere. */
export function numberArgument(argument: Argument, call: MethodCall): number | undefined {
  if (argument === undefined) return undefined;
  const value = valueArgument(argument, call);
  const number = toNumber(value);
  if (Number.isNaN(number)) throw badArgument(call, `needs a number, and the argument is ${aKind(value)}`);
  return number;
}

export function badArgument({ method, written }: MethodCall, what: string): MlldError {
  return new MlldError('BAD_ARGUMENT', `${written}: .${method}() ${what}`);
}
