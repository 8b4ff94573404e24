/** The `@input` of hooks, and the inputs that their values replace. instrumentation.md 5.6 and 5.7. */
import type { Operation } from '../runtime/operation.js';
import { annotate, asElement, dataOf, flow, type Value } from '../values/value.js';

/** Returns the inputs as one array, with the labels of all of them. */
export function arrayOf(inputs: readonly Value[]): Value {
  return flow(annotate(inputs.map((input) => asElement(input) ?? null), {}), inputs); // prettier-ignore
}

/** Returns a single input as itself, and several as an array. */
export function oneOrAll(inputs: readonly Value[]): Value {
  return inputs.length === 1 ? (inputs[0] ?? null) : arrayOf(inputs);
}

/** Replaces the inputs: of a call by position from an array, or the first one by another value; of other operations as a whole. */
export function replaced(operation: Operation, inputs: readonly Value[], returned: Value): readonly Value[] {
  if (!operation.call) return inputs.map((input) => flow(returned, [input]));
  const data = dataOf(returned);
  const values: readonly Value[] = Array.isArray(data) ? data : [returned];
  return inputs.map((input, i) => (i < values.length ? flow(values[i] ?? null, [input, returned]) : input));
}

/** Operations whose work is fixed when they start: the value of a before-hook is seen by the next hook and has no other effect. */
const FIXED: ReadonlySet<string> = new Set(['run', 'import', 'for', 'for:batch']);

export function takesInput({ kind }: Operation): boolean {
  return !FIXED.has(kind);
}
