/**
 * The journal stores the data of a result, or its text where the text is that data written as JSON (so that the text view is restored as
 * well). A text may be JSON and mean other data: that of a JSONL file with one record is a list.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Json, ResultForm } from '../../journal/event.js';
import { Signal, type Outcome } from '../runtime/completion.js';
import type { Encoded } from '../runtime/calls/result-cache.js';
import { toJson } from '../values/native.js';
import { Annotated, annotate, dataOf, type Data, type Value } from '../values/value.js';
import { withMetadata, recordedMetadata } from './result-metadata.js';

export function encodeResult(result: Outcome): Encoded {
  if (!(result instanceof Signal)) return encodeValue(result);
  const { word, hasValue } = result;
  if (!hasValue) return { json: { word }, form: 'word', notes: [] };
  const { json, form, notes } = encodeValue(result.value);
  return { json: { word, value: json, ...(form && { form }) }, form: 'word', notes };
}

function encodeValue(value: Value): Encoded {
  if (value instanceof Annotated && typeof value.data !== 'string' && value.text !== undefined && isWrittenIn(value.text, value.data)) {
    return { json: value.text, form: 'text', notes: recordedMetadata(value, { hasText: true, hasParts: false }) };
  }
  const json = toJson(value);
  // Data that needed no change holds nothing but data.
  return { json, notes: recordedMetadata(value, { hasText: false, hasParts: json !== dataOf(value) }) };
}

/** Returns the result without labels: they follow from the call that reuses it. `root`: the project's folder. */
export function decodeResult(encoded: Encoded, root: string): Outcome {
  if (encoded.form !== 'word') return decodeValue(encoded, root);
  const { word, value, form } = encoded.json as { readonly word: Signal['word']; readonly value?: Json; readonly form?: ResultForm };
  if (value === undefined) return new Signal(word, null, false);
  return new Signal(word, decodeValue({ json: value, form, notes: encoded.notes }, root), true);
}

/** As `decodeResult`, for a result that is known to be no control word. */
export function decodeValue({ json, form, notes }: Encoded, root: string): Value {
  const value = form === 'text' && typeof json === 'string' ? annotate(JSON.parse(json) as Data, { text: json }) : (json as Data);
  return withMetadata(value, notes, root);
}

/** Returns the control word that a call returned instead of a value. */
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
