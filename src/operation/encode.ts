/** A result as the journal keeps it: the data, or the text that the data was parsed from (so that its text view comes back as well). */
import type { Json } from '../../journal/event.js';
import { toJson } from '../values/native.js';
import { Annotated, annotate, type Data, type Value } from '../values/value.js';

export interface Encoded {
  readonly json: Json;
  readonly form?: 'text' | undefined;
}

export function encodeResult(value: Value): Encoded {
  if (value instanceof Annotated && typeof value.data !== 'string' && value.text !== undefined && parses(value.text)) {
    return { json: value.text, form: 'text' };
  }
  return { json: toJson(value) };
}

/** The value without labels; they come from the call that is served. */
export function decodeResult({ json, form }: Encoded): Value {
  if (form !== 'text' || typeof json !== 'string') return json as Data;
  return annotate(JSON.parse(json) as Data, { text: json });
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
