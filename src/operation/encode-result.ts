/**
 * A result as the journal keeps it: the data, or the text where that is the data written as JSON (so that its text view comes back as well).
 * A text may be JSON and mean other data: that of a JSONL file with one record is a list.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Json, ResultForm, ResultMetadata } from '../../journal/event.js';
import { Signal } from '../runtime/completion.js';
import { toJson } from '../values/native.js';
import { Annotated, annotate, dataOf, type Data, type Value } from '../values/value.js';
import { withMetadata, recordedMetadata } from './result-metadata.js';

export interface Encoded {
  readonly json: Json;
  readonly form?: ResultForm | undefined;
  /** What else is known about the value; of a word of control, about what it carries. */
  readonly notes: readonly ResultMetadata[];
}

export function encodeResult(value: Value): Encoded {
  const signal: unknown = value;
  if (signal instanceof Signal) {
    const { word, given } = signal;
    if (!given) return { json: { word }, form: 'word', notes: [] };
    const { json, form, notes } = encodeResult(signal.value);
    return { json: { word, value: json, ...(form && { form }) }, form: 'word', notes };
  }
  if (value instanceof Annotated && typeof value.data !== 'string' && value.text !== undefined && isWrittenIn(value.text, value.data)) {
    return { json: value.text, form: 'text', notes: recordedMetadata(value, { hasText: true, hasParts: false }) };
  }
  const json = toJson(value);
  // Data that needed no change holds nothing but data.
  return { json, notes: recordedMetadata(value, { hasText: false, hasParts: json !== dataOf(value) }) };
}

/** The value without labels; they come from the call that is served. `root`: the project's folder. */
export function decodeResult({ json, form, notes }: Encoded, root: string): Value {
  if (form === 'word') {
    const { word, ...rest } = json as { readonly word: Signal['word']; readonly value?: Json; readonly form?: ResultForm };
    const value = rest.value === undefined ? null : decodeResult({ json: rest.value, form: rest.form, notes }, root);
    return new Signal(word, value, rest.value !== undefined) as unknown as Value; // travels as a value, like a fresh one
  }
  const value = form === 'text' && typeof json === 'string' ? annotate(JSON.parse(json) as Data, { text: json }) : (json as Data);
  return withMetadata(value, notes, root);
}

/** The word of control that a call gives instead of a value. */
export function wordOf({ json, form }: Pick<Encoded, 'json' | 'form'>): Signal['word'] | undefined {
  return form === 'word' ? (json as { readonly word: Signal['word'] }).word : undefined;
}

function isWrittenIn(text: string, data: Data): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(text), data);
  } catch {
    return false;
  }
}
