/** `@value.method(args)` (values.md 10). Labels of the value and of the arguments flow to the result. */
import { MlldError } from '../../errors.js';
import { Annotated, type Data, dataOf, flow, type Value } from '../value.js';
import type { Argument, MethodCall } from './arguments.js';
import { arrayMethods } from './array-methods.js';
import { aKind } from '../kinds/kind.js';
import { closest } from '../suggest.js';
import { loadedText } from '../text.js';
import { textMethods } from './text-methods.js';
import { typeChecks } from './type-checks.js';

/** True when any kind of value has a method of this name. */
export function isMethod(name: string): boolean {
  return Object.hasOwn(textMethods, name) || Object.hasOwn(arrayMethods, name) || Object.hasOwn(typeChecks, name) || isFormatMethod(name);
}

/** True for `.json()` and `.yaml()`, which every value has. They are apart because the writer of YAML is loaded when it is needed. */
export function isFormatMethod(name: string): boolean {
  return formatMethods.includes(name);
}

const formatMethods: readonly string[] = ['json', 'yaml'];

/** Throws MlldError UNKNOWN_METHOD, UNKNOWN_VARIABLE (a method of an undefined base that is not a type check) or BAD_ARGUMENT. */
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
  const raw = loadedText(value, method);
  if (raw !== undefined && Object.hasOwn(textMethods, method)) return textMethods[method]?.(raw, args, call);
  if (data === undefined) throw new MlldError('UNKNOWN_VARIABLE', `${call.written} is not defined, so .${method}() cannot be called`);
  throw unknownMethod(data, call);
}

function unknownMethod(data: Data, { method, written }: MethodCall): MlldError {
  const known = namesFor(data);
  const word = method.toLowerCase();
  const other = otherWords.get(word);
  const near = closest(method, known) ?? known.find((name) => word.length > 2 && name.toLowerCase().startsWith(word));
  const meant = near ?? (other && known.includes(other) ? other : undefined);
  const hint = meant ? `did you mean .${meant}()?` : (elsewhere(method) ?? otherWays.get(word));
  return new MlldError('UNKNOWN_METHOD', `${written}: ${aKind(data)} has no method .${method}()`, { hint });
}

/** Maps names of other languages, in lower case, to methods of mlld. */
const otherWords: ReadonlyMap<string, string> = new Map([
  ['upper', 'toUpperCase'],
  ['uppercase', 'toUpperCase'],
  ['lower', 'toLowerCase'],
  ['lowercase', 'toLowerCase'],
  ['strip', 'trim'],
  ['contains', 'includes'],
  ['has', 'includes'],
  ['len', 'length'],
  ['size', 'length'],
  ['count', 'length'],
  ['substr', 'substring'],
  ['find', 'indexOf'],
  ['index', 'indexOf'],
  ['tojson', 'json'],
  ['stringify', 'json'],
  ['toyaml', 'yaml'],
]);

/** Maps methods of other languages that mlld lacks to what it has instead. */
const otherWays: ReadonlyMap<string, string> = new Map([
  ['map', 'write `for @item in @list => …`'],
  ['foreach', 'write `for @item in @list => …`'],
  ['filter', 'write `for @item in @list when CONDITION => @item`'],
  ['reduce', 'write a function: `exe @total(list) = js { … }`'],
  ['push', 'write `@list += @item` in a block, or `@list.concat([@item])`'],
  ['append', 'write `@list += @item` in a block, or `@list.concat([@item])`'],
  ['keys', 'write `for @key, @value in @object => @key`'],
  ['values', 'write `for @value in @object => @value`'],
  ['entries', 'write `for @key, @value in @object => …`'],
  ['tostring', 'put the value into a template'],
]);

function namesFor(data: Data): string[] {
  const own = typeof data === 'string' ? textMethods : Array.isArray(data) ? arrayMethods : {};
  return [...Object.keys(own), ...Object.keys(typeChecks), ...formatMethods];
}

function elsewhere(method: string): string | undefined {
  if (Object.hasOwn(textMethods, method)) return Object.hasOwn(arrayMethods, method) ? 'texts and arrays have it' : 'texts have it';
  return Object.hasOwn(arrayMethods, method) ? 'arrays have it' : undefined;
}
