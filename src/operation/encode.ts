/** A result as the journal keeps it: the data, or the text that the data was parsed from (so that its text view comes back as well). */
import type { Json, ResultForm } from '../../journal/event.js';
import { Signal } from '../language/completion.js';
import { toJson } from '../values/native.js';
import { Annotated, annotate, type Data, type Value } from '../values/value.js';

export interface Encoded {
  readonly json: Json;
  readonly form?: ResultForm | undefined;
}

export function encodeResult(value: Value): Encoded {
  const signal: unknown = value;
  if (signal instanceof Signal) {
    const { word, given } = signal;
    if (!given) return { json: { word }, form: 'word' };
    const { json, form } = encodeResult(signal.value);
    return { json: { word, value: json, ...(form && { form }) }, form: 'word' };
  }
  if (value instanceof Annotated && typeof value.data !== 'string' && value.text !== undefined && parses(value.text)) {
    return { json: value.text, form: 'text' };
  }
  return { json: toJson(value) };
}

/** The value without labels; they come from the call that is served. */
export function decodeResult({ json, form }: Encoded): Value {
  if (form === 'word') {
    const { word, ...rest } = json as { readonly word: Signal['word']; readonly value?: Json; readonly form?: ResultForm };
    const value = rest.value === undefined ? null : decodeResult({ json: rest.value, form: rest.form });
    return new Signal(word, value, rest.value !== undefined) as unknown as Value; // travels as a value, like a fresh one
  }
  if (form !== 'text' || typeof json !== 'string') return json as Data;
  return annotate(JSON.parse(json) as Data, { text: json });
}

/** The word of control that a call gives instead of a value. */
export function wordOf({ json, form }: Encoded): Signal['word'] | undefined {
  return form === 'word' ? (json as { readonly word: Signal['word'] }).word : undefined;
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
