/** What a guard asks of its inputs together: `@input.any.mx.labels.includes("secret")`. Instrumentation 4.2. */
import { dataOf, HostObject, labelsOf, sourcesOf, union, type Data, type Value } from './value.js';
import { textOf } from './text.js';

type Quantifier = (tests: readonly boolean[]) => boolean;

const QUANTIFIERS: { readonly [name: string]: Quantifier } = {
  any: (tests) => tests.some(Boolean),
  all: (tests) => tests.every(Boolean),
  none: (tests) => !tests.some(Boolean),
};

/** `.mx.labels`, `.mx.taint` and `.text` of several values; each of them answers `.includes(…)`. */
export class InputTest extends HostObject {}

/** Gives an array of inputs the fields `any`, `all` and `none`, which no loop over it and no text of it shows. */
export function addInputTests(list: Value, inputs: readonly Value[]): Value {
  const data = dataOf(list);
  if (!Array.isArray(data)) throw new Error('the inputs of an operation are a list');
  for (const [name, holds] of Object.entries(QUANTIFIERS)) Object.defineProperty(data, name, { value: inputTest(inputs, holds) });
  return list;
}

function inputTest(inputs: readonly Value[], holds: Quantifier): Data {
  const includes = (lists: readonly (string | readonly string[])[]): HostObject =>
    new HostObject({ includes: (wanted: string) => holds(lists.map((list) => list.includes(wanted))) });
  const mx = new HostObject({
    labels: includes(inputs.map(labelsOf)),
    taint: includes(inputs.map((input) => union(labelsOf(input), sourcesOf(input)))),
  });
  return new InputTest({ mx, text: includes(inputs.map(textOf)) });
}
