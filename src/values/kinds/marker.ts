/** Makes the object that replaces, in a list, an element that failed in a parallel loop or group. control.md 12, calls.md 5.2. */
import { withoutUndefined } from '../without-undefined.js';
import { asElement, dataOf, type DataObject, type FailedCall, type Value } from '../value.js';

/** Not enumerable, so that JSON, loops and comparisons see an ordinary object; a copy of a marker is not a marker. */
const IS_MARKER = Symbol('error marker');

export interface MarkedPlace {
  /** Null for a call outside of loops. */
  readonly index: number | null;
  /** A member of a group has its number, an item its key as a text. */
  readonly key: string | number | null;
  readonly value: Value;
}

interface MarkedFailure extends MarkedPlace {
  readonly message: string;
  /** Present where a call failed. */
  readonly call?: FailedCall | undefined;
}

export function errorMarker({ index, key, message, value, call }: MarkedFailure): DataObject {
  const marker: DataObject = {
    index,
    key,
    message,
    error: message,
    value: asElement(value) ?? null,
    ...(call &&
      withoutUndefined<Record<string, Value>>({
        class: call.class,
        attempts: call.attempts,
        fn: call.fn,
        retryAfterMs: call.retryAfterMs,
        resetsAt: call.resetsAt,
      })),
  };
  return Object.defineProperty(marker, IS_MARKER, { value: call ?? true });
}

export function isErrorMarker(value: Value): boolean {
  const data = dataOf(value);
  return typeof data === 'object' && data !== null && IS_MARKER in data;
}

/** Returns the call whose failure this very object marks. */
export function markedCall(data: object): FailedCall | undefined {
  const call = IS_MARKER in data ? (data as { readonly [IS_MARKER]: FailedCall | true })[IS_MARKER] : true;
  return call === true ? undefined : call;
}
