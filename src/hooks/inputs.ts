/** What a hook sees as `@input`, and what its value does to the inputs. instrumentation.md 5.6 and 5.7. */
import type { Operation } from '../runtime/operation.js';
import { annotate, asElement, dataOf, flow, type Value } from '../values/value.js';

/** The inputs as one array, with the labels of all of them. */
export function arrayOf(inputs: readonly Value[]): Value {
  return flow(annotate(inputs.map((input) => asElement(input) ?? null), {}), inputs); // prettier-ignore
}

/** One input is seen as itself. */
export function oneOrAll(inputs: readonly Value[]): Value {
  return inputs.length === 1 ? (inputs[0] ?? null) : arrayOf(inputs);
}

/** A call takes an array by position and anything else as its first argument; other operations take the value. */
export function replaced(operation: Operation, inputs: readonly Value[], returned: Value): readonly Value[] {
  if (!operation.call) return inputs.map((input) => flow(returned, [input]));
  const data = dataOf(returned);
  const given: readonly Value[] = Array.isArray(data) ? data : [returned];
  return inputs.map((input, i) => (i < given.length ? flow(given[i] ?? null, [input, returned]) : input));
}

/** Their work is fixed when they start: what a before-hook returns is seen by the next one and does nothing else. */
const FIXED: ReadonlySet<string> = new Set(['run', 'import', 'for', 'for:batch']);

export function takesInput({ kind }: Operation): boolean {
  return !FIXED.has(kind);
}
