/** Makes the result of a call from the value of its body: takes it out of the reply, and fits it to the schema. calls.md 7.2 and 8.2. */
import type { Json } from '../../../journal/event.js';
import type { ReadReply } from '../../calls/replies/read-reply.js';
import type { ResultSchema } from '../../calls/schema/compile-schema.js';
import { structuredResult } from '../../calls/schema/structured-result.js';
import { toJson } from '../../values/native.js';
import { parseResult } from '../../values/results.js';
import { annotate, Annotated, dataOf, metadataOf, NO_METADATA, type Data, type Value } from '../../values/value.js';

export type Fit = { readonly kind: 'fits'; readonly value: Value } | { readonly kind: 'misfits'; readonly problems: readonly string[] };

/** Returns the text that an adapter reads. */
export function replyText(value: Value): string {
  return writtenText(value) ?? JSON.stringify(toJson(value) satisfies Json);
}

/** Returns the result in a reply, with the labels and the command of the value that it replaces. */
export function resultIn({ data, text = '' }: ReadReply, printed: Value): Value {
  const { text: _text, isPrinted: _isPrinted, ...kept } = metadataOf(printed) ?? NO_METADATA;
  const result = data === undefined ? parseResult(text, 'cmd') : (data as Data);
  const view = result instanceof Annotated ? result.text : undefined;
  return annotate(dataOf(result), { ...kept, ...(view === undefined ? {} : { text: view }) });
}

/** The source of a result, where that is not its own text or data. */
export interface Given {
  /** The structured result of a reply, which is checked as it is even if it is a text. */
  readonly data?: Json | undefined;
  /** The text that was printed. */
  readonly written?: string;
}

export function fitToSchema(result: Value, schema: ResultSchema, { data, written }: Given = {}): Fit {
  const text = written ?? writtenText(result);
  const raw = data !== undefined ? { data } : text !== undefined ? { text } : { data: toJson(result) };
  const fit = structuredResult(raw, schema);
  if (fit.kind === 'misfits') return fit;
  const { text: _text, isPrinted: _isPrinted, ...kept } = metadataOf(result) ?? NO_METADATA;
  return { kind: 'fits', value: annotate(fit.value as Data, kept) };
}

/** Returns a text itself, and the text that data was read from. */
export function writtenText(value: Value): string | undefined {
  const data = dataOf(value);
  if (typeof data === 'string') return data;
  return value instanceof Annotated ? value.text : undefined;
}
