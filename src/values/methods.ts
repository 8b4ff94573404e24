/** `@value.method(args)` (language reference, values 10). Labels of the value and of the arguments flow to the result. */
import { MlldError } from '../errors.js';
import { Annotated, type Data, dataOf, flow, type Value } from './value.js';
import type { Argument, MethodCall } from './arguments.js';
import { arrayMethods } from './array-methods.js';
import { aKind } from './kind.js';
import { closest } from './suggest.js';
import { textMethods } from './text-methods.js';
import { typeChecks } from './type-checks.js';

/** Whether any kind of value has a method of this name. */
export function isMethod(name: string): boolean {
  return Object.hasOwn(textMethods, name) || Object.hasOwn(arrayMethods, name) || Object.hasOwn(typeChecks, name);
}

/** MlldError UNKNOWN_METHOD, UNKNOWN_VARIABLE (a method of an undefined base that is no type check) or BAD_ARGUMENT. */
export function callMethod(value: Value, name: string, args: readonly Argument[], context: { readonly written: string }): Value {
  const call: MethodCall = { method: name, written: context.written };
  const result = resultOf(value, args, call);
  if (!(value instanceof Annotated) && !args.some((argument) => argument instanceof Annotated)) return result;
  return flow(result, [value, ...args.filter((argument): argument is Value => !(argument instanceof RegExp))]);
}

function resultOf(value: Value, args: readonly Argument[], call: MethodCall): Value {
  const { method } = call;
  const data = dataOf(value);
  if (typeof data === 'string' && Object.hasOwn(textMethods, method)) return textMethods[method]?.(data, args, call);
  if (Array.isArray(data) && Object.hasOwn(arrayMethods, method)) return arrayMethods[method]?.(data, args, call);
  if (Object.hasOwn(typeChecks, method)) return typeChecks[method]?.(value);
  if (data === undefined) throw new MlldError('UNKNOWN_VARIABLE', `${call.written} is not defined, so .${method}() cannot be called`);
  throw unknownMethod(data, call);
}

function unknownMethod(data: Data, { method, written }: MethodCall): MlldError {
  const known = namesFor(data);
  const near = closest(method, known);
  const hint = near ? `did you mean .${near}()?` : elsewhere(method);
  return new MlldError('UNKNOWN_METHOD', `${written}: ${aKind(data)} has no method .${method}()`, { hint });
}

function namesFor(data: Data): string[] {
  const own = typeof data === 'string' ? textMethods : Array.isArray(data) ? arrayMethods : {};
  return [...Object.keys(own), ...Object.keys(typeChecks)];
}

function elsewhere(method: string): string | undefined {
  if (Object.hasOwn(textMethods, method)) return Object.hasOwn(arrayMethods, method) ? 'texts and arrays have it' : 'texts have it';
  return Object.hasOwn(arrayMethods, method) ? 'arrays have it' : undefined;
}
