/** Methods of arrays (values.md 10.2). None of them changes the array. */
import { joinArrays, refuseTooMany } from './array-size.js';
import { asElement, dataOf, type Data, type Value } from '../value.js';
import { type Argument, type MethodCall, numberArgument, textArgument, valueArgument } from './arguments.js';
import { textOf } from '../text.js';

type ArrayMethod = (array: readonly Value[], args: readonly Argument[], call: MethodCall) => Value;

export const arrayMethods: { readonly [name: string]: ArrayMethod } = {
  length: (array) => array.length,
  includes: (array, [item], call) => positionOf(array, valueArgument(item, call)) !== -1,
  indexOf: (array, [item], call) => positionOf(array, valueArgument(item, call)),
  join: (array, [separator], call) => array.map(joined).join(separator === undefined ? ',' : textArgument(separator, call)),
  slice: (array, [from, to], call) => array.slice(numberArgument(from, call), numberArgument(to, call)),
  concat: (array, args, call) =>
    args.reduce<readonly Value[]>((all, item) => joinArrays(all, elementsOf(valueArgument(item, call))), array),
  reverse: (array) => array.toReversed(),
  sort: (array) => sortByText(array),
  flat: (array, [depth], call) => flat(array, numberArgument(depth, call) ?? 1),
  at: (array, [index], call) => array.at(numberArgument(index, call) ?? 0) ?? null,
};

/** Compares by identity and kind: `"2"` is not `2`; objects and arrays are found only as the very same. */
function positionOf(array: readonly Value[], item: Value): number {
  const wanted = dataOf(item) ?? null;
  return array.findIndex((element) => dataOf(element) === wanted);
}

function joined(element: Value): string {
  return dataOf(element) === null ? '' : textOf(element);
}

function elementsOf(item: Value): readonly Value[] {
  const data = dataOf(item);
  return Array.isArray(data) ? data : [asElement(item) ?? null];
}

/** Sorts by code units of the text forms, of numbers too; equal texts keep their order. */
export function sortByText<T extends Value>(array: readonly T[]): readonly T[] {
  const keyed = array.map((element) => ({ element, key: textOf(element) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map(({ element }) => element);
}

function flat(array: readonly Value[], depth: number): readonly Value[] {
  if (depth < 1) return array;
  let elements = 0;
  return array.flatMap((element) => {
    const data: Data | undefined = dataOf(element);
    const inner = Array.isArray(data) ? flat(data, depth - 1) : [element];
    refuseTooMany((elements += inner.length));
    return inner;
  });
}
