/** Methods of texts (values.md 10.1). */
import { isDataObject } from '../plain-object.js';
import { dataOf, type Data, type Value } from '../value.js';
import { type Argument, badArgument, type MethodCall, numberArgument, textArgument } from './arguments.js';
import { ELEMENTS_MAX, refuseTooMany } from './array-size.js';
import { search, userRegExp } from './regex.js';
import { textOf } from '../text.js';

type TextMethod = (text: string, args: readonly Argument[], call: MethodCall) => Data;

/** Characters. A longer result is refused, because it could exhaust the memory. */
const TEXT_LENGTH_MAX = 2 ** 28;

export const textMethods: { readonly [name: string]: TextMethod } = {
  length: (text) => text.length,
  includes: (text, [part], call) => text.includes(textArgument(part, call)),
  startsWith: (text, [part], call) => text.startsWith(textArgument(part, call)),
  endsWith: (text, [part], call) => text.endsWith(textArgument(part, call)),
  indexOf: (text, [part], call) => text.indexOf(textArgument(part, call)),
  toLowerCase: (text) => text.toLowerCase(),
  toUpperCase: (text) => text.toUpperCase(),
  trim: (text) => text.trim(),
  slice: (text, [from, to], call) => text.slice(numberArgument(from, call), numberArgument(to, call)),
  substring: (text, [from, to], call) => text.substring(numberArgument(from, call) ?? 0, numberArgument(to, call)),
  substr,
  split: (text, [separator], call) => withPattern(text, separator === undefined ? '' : separator, call, (pattern) => split(text, pattern)),
  replace: (text, [old, by], call) => withPattern(text, old, call, (pattern) => text.replace(pattern, textArgument(by, call))),
  replaceAll,
  match,
  padStart: (text, [width, fill], call) => text.padStart(lengthArgument(width, 1, call), fillArgument(fill, call)),
  padEnd: (text, [width, fill], call) => text.padEnd(lengthArgument(width, 1, call), fillArgument(fill, call)),
  repeat: (text, [times], call) => text.repeat(lengthArgument(times, text.length, call)),
};

function split(text: string, pattern: RegExp | string): readonly string[] {
  const parts = text.split(pattern, ELEMENTS_MAX + 1);
  refuseTooMany(parts.length);
  return parts;
}

function withPattern<T>(text: string, argument: Argument, call: MethodCall, run: (pattern: RegExp | string) => T): T {
  return argument instanceof RegExp ? search(argument, text.length, () => run(argument)) : run(textArgument(argument, call));
}

/** Written out, because `String.prototype.substr` is deprecated in the host. */
function substr(text: string, [from, count]: readonly Argument[], call: MethodCall): string {
  const start = Math.trunc(numberArgument(from, call) ?? 0);
  const first = start < 0 ? Math.max(0, text.length + start) : start;
  return text.slice(first, first + Math.max(0, numberArgument(count, call) ?? text.length));
}

function replaceAll(text: string, [pattern, by]: readonly Argument[], call: MethodCall): string {
  if (pattern instanceof RegExp) return search(pattern, text.length, () => text.replaceAll(everywhere(pattern), textArgument(by, call)));
  const pairs = dataOf(pattern);
  if (!isDataObject(pairs)) return text.replaceAll(textArgument(pattern, call), textArgument(by, call));
  return Object.entries(pairs).reduce((result, [part, other]) => result.replaceAll(part, () => textOf(other)), text);
}

/** Adds the flag `g`, without which `replaceAll` of the host refuses an expression. */
function everywhere(pattern: RegExp): RegExp {
  return pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`);
}

function match(text: string, [pattern]: readonly Argument[], call: MethodCall): Data {
  const expression = pattern instanceof RegExp ? pattern : toRegExp(textArgument(pattern, call), call);
  const found = search(expression, text.length, () => text.match(expression));
  return found && Array.from(found, (group: string | undefined): Value => group ?? null);
}

function toRegExp(source: string, call: MethodCall): RegExp {
  try {
    return userRegExp(source);
  } catch (error) {
    throw badArgument(call, `needs a regular expression: ${(error as Error).message}`);
  }
}

function fillArgument(fill: Argument, call: MethodCall): string {
  return fill === undefined ? ' ' : textArgument(fill, call);
}

/** Reads a count of pieces of `size` characters each. Throws BAD_ARGUMENT when they would be too long together. */
function lengthArgument(argument: Argument, size: number, call: MethodCall): number {
  const count = numberArgument(argument, call);
  if (count === undefined) throw badArgument(call, 'needs a number, and the argument is missing');
  if (count < 0 && call.method === 'repeat') throw badArgument(call, `cannot repeat a text ${count} times`);
  if (count * size > TEXT_LENGTH_MAX) throw badArgument(call, `would make a text of more than ${TEXT_LENGTH_MAX} characters`);
  return count;
}
