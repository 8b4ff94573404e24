/**
 * Makes the context of a pipeline, `@p`, one value: a plain object, which code and JSON see as it is. A hidden member has the results with
 * the labels that each had when its stage ended. control.md 19.3.
 */
import { asElement, dataOf, flow, type Value } from '../value.js';

const RESULTS: unique symbol = Symbol('results of a pipeline');

interface PipelineContext {
  readonly [RESULTS]: readonly Value[];
}

export interface PipelineFacts {
  /** The source, and the results of the finished stages. */
  readonly results: readonly Value[];
  readonly stage: number;
  readonly try: number;
  /** Holds the results of repeats in the current retry context; undefined outside of one. */
  readonly repeated: readonly Value[] | undefined;
  /** The same for each retry context that has ended. */
  readonly ended: readonly (readonly Value[])[];
  /** Lists what guards decided in the pipeline. A function, because the guards of the running stage are still deciding. */
  readonly guards: () => Value;
}

/** Has the labels of all results, for use as a whole; a result that is read by its number has its own. */
export function pipelineContext({ results, stage, try: attempt, repeated, ended, guards }: PipelineFacts): Value {
  const object: Record<string, Value> = {};
  const finished = Math.max(0, results.length - 1);
  results.forEach((result, i) => (object[i] = asElement(result) ?? null));
  for (let back = 1; back <= finished; back++) object[-back] = asElement(results.at(-back)) ?? null;
  const contexts = ended.map((list) => list.map((output) => asElement(output) ?? null));
  object['length'] = finished;
  object['stage'] = stage;
  object['try'] = attempt;
  object['tries'] = repeated ? repeated.map((output) => asElement(output) ?? null) : contexts;
  object['retries'] = { all: contexts };
  Object.defineProperty(object, 'guards', { get: guards, enumerable: true });
  Object.defineProperty(object, RESULTS, { value: results });
  return flow(object, [...results, ...(repeated ?? []), ...ended.flat()]);
}

/** Reads `@p[0]` and `@p[-1]`; the source is not counted back to. Undefined for other values, and for results that there are not. */
export function resultOfPipeline(value: Value, index: Value): Value {
  const data = dataOf(value);
  const position = dataOf(index);
  if (typeof position !== 'number' || typeof data !== 'object' || data === null || !(RESULTS in data)) return undefined;
  const results = (data as unknown as PipelineContext)[RESULTS];
  if (position >= 0) return results[position];
  return -position < results.length ? (results.at(position) ?? null) : '';
}
