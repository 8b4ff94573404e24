/** Implements tests of all inputs of a guard: `@input.any.mx.labels.includes("secret")`. instrumentation.md 4.2. */
import { dataOf, HostObject, labelsOf, taintOf, type Value } from '../value.js';
import { textOf } from '../text.js';

type Holds = (tests: readonly boolean[]) => boolean;

const QUANTIFIERS: { readonly [name: string]: Holds } = {
  any: (tests) => tests.some(Boolean),
  all: (tests) => tests.every(Boolean),
  none: (tests) => !tests.some(Boolean),
};

/** Holds a list or a text of each input; `includes` tests all of them. */
class Quantified {
  constructor(
    private readonly each: readonly (string | readonly string[])[],
    private readonly holds: Holds,
  ) {}
  includes(wanted: string): boolean {
    return this.holds(this.each.map((one) => one.includes(wanted)));
  }
}

class QuantifiedFacts {
  constructor(
    readonly labels: Quantified,
    readonly taint: Quantified,
  ) {}
}

class QuantifiedInputs {
  constructor(
    readonly mx: QuantifiedFacts,
    readonly text: Quantified,
  ) {}
}

/** Has the `.mx` of its inputs, not its own. */
export class InputTest extends HostObject {}

/** Adds hidden fields `any`, `all` and `none` to an array of inputs. */
export function addInputTests(list: Value, inputs: readonly Value[]): Value {
  const data = dataOf(list);
  if (!Array.isArray(data)) throw new Error('the inputs of an operation are a list');
  for (const [name, holds] of Object.entries(QUANTIFIERS)) Object.defineProperty(data, name, { value: inputTest(inputs, holds) });
  return list;
}

function inputTest(inputs: readonly Value[], holds: Holds): InputTest {
  const taints = inputs.map(taintOf);
  const facts = new QuantifiedFacts(new Quantified(inputs.map(labelsOf), holds), new Quantified(taints, holds));
  return new InputTest(new QuantifiedInputs(facts, new Quantified(inputs.map(textOf), holds)));
}
