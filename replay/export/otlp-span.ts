/** Writes one span in the JSON form of OTLP. */
import type { RunRef } from '../../journal/ids.js';
import { parseTraceparent, spanIdOf, traceIdOf } from './trace-ids.js';

export type Attribute = string | number | boolean | readonly string[] | undefined;
export type Attributes = { readonly [name: string]: Attribute };

export const INTERNAL = 1;
export const CLIENT = 3;
const STATUS_OK = 1;
const STATUS_ERROR = 2;

export interface SpanFailure {
  /** The class of a failed call, the code of another error, or a word for the outcome. */
  readonly type: string;
  readonly message: string;
}

export interface SpanParts {
  /** Unique in the run; empty for the run itself. */
  readonly id: string;
  readonly parent?: string;
  readonly name: string;
  readonly kind: number;
  readonly startedMs: number;
  readonly endedMs: number;
  readonly about: Attributes;
  readonly events: readonly object[];
  readonly failure: SpanFailure | undefined;
  readonly isDone: boolean;
  /** The call whose recorded result was reused. */
  readonly link?: { readonly ref: RunRef; readonly id: string } | undefined;
}

/** Returns the trace context that a run was started in; undefined where it began a trace of its own. */
export type TraceparentOf = (ref: RunRef) => string | undefined;

const NO_TRACEPARENT: TraceparentOf = () => undefined;

export function spanObject(
  ref: RunRef,
  { id, parent, name, kind, startedMs, endedMs, about, events, failure, isDone, link }: SpanParts,
  traceparent: TraceparentOf = NO_TRACEPARENT,
) {
  const given = traceparent(ref);
  const parentId = parent === undefined ? parseTraceparent(given)?.spanId : spanIdOf(ref, parent);
  return {
    traceId: traceIdOf(ref, given),
    spanId: spanIdOf(ref, id),
    ...(parentId === undefined ? {} : { parentSpanId: parentId }),
    name,
    kind,
    startTimeUnixNano: nanoseconds(startedMs),
    endTimeUnixNano: nanoseconds(endedMs),
    attributes: attributes({ ...about, 'error.type': failure?.type }),
    events,
    ...(link && { links: [{ traceId: traceIdOf(link.ref, traceparent(link.ref)), spanId: spanIdOf(link.ref, link.id) }] }),
    status: failure === undefined ? (isDone ? { code: STATUS_OK } : {}) : { code: STATUS_ERROR, message: failure.message },
  };
}

export function eventObject(name: string, atMs: number, about: Attributes): object {
  return { name, timeUnixNano: nanoseconds(atMs), attributes: attributes(about) };
}

/** 64-bit numbers are texts in OTLP's JSON. */
const nanoseconds = (ms: number): string => (BigInt(Math.round(ms)) * 1_000_000n).toString();

export function attributes(about: Attributes): object[] {
  return Object.entries(about).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: attributeValue(key, value) }]));
}

/** Back ends take the type of an attribute from the first value: a sum of money has the type of those that are not whole. */
function attributeValue(key: string, value: NonNullable<Attribute>): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value !== 'number') return { arrayValue: { values: value.map((each) => ({ stringValue: each })) } };
  return Number.isSafeInteger(value) && !key.endsWith('_usd') ? { intValue: String(value) } : { doubleValue: value };
}
