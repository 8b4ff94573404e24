/** Adds to the result of a call what the call used, the same for a fresh and for a reused one. calls.md 10.7. */
import type { FactOf, Usage } from '../../journal/event.js';
import { addAttempt } from '../calls/usage.js';
import { Signal, type Outcome } from '../runtime/completion.js';
import { annotate, Annotated, type DataObject, type MeasuredCall, type Value } from '../values/value.js';

type Recorded = Pick<FactOf<'call.completed'>, 'usage' | 'callUsage' | 'session'>;

/** Undefined when nothing is known. */
export function measuredIn({ usage, callUsage = usage, session }: Recorded): MeasuredCall | undefined {
  if (callUsage === undefined && session === undefined) return undefined;
  return { ...(callUsage && { usage: callUsage as unknown as DataObject }), ...(session !== undefined && { session }) };
}

/** Adds what a later execution used that a guard requested; its session is the one that may be continued. */
export function addExecution(before: MeasuredCall, later: MeasuredCall | undefined): MeasuredCall {
  const more = later?.usage as Usage | undefined;
  const usage = more ? addAttempt(before.usage as Usage | undefined, more) : before.usage;
  return { ...(usage && { usage: usage as unknown as DataObject }), ...(later?.session !== undefined && { session: later.session }) };
}

/** Removes what a call inside has used: a value is the result of the outermost call that returned it. */
export function withMeasured(result: Outcome, measured: (() => MeasuredCall | undefined) | undefined): Outcome {
  if (!(result instanceof Signal)) return measure(result, measured);
  return result.hasValue ? new Signal(result.word, measure(result.value, measured), true) : result;
}

function measure(value: Value, measured: (() => MeasuredCall | undefined) | undefined): Value {
  if (!(value instanceof Annotated)) return measured && value !== undefined ? annotate(value, { measured }) : value;
  if (value.metadata.measured === measured) return value;
  if (measured) return value.withMetadata({ ...value.metadata, measured });
  const { measured: _, ...others } = value.metadata;
  return value.withMetadata(others);
}
