/**
 * Returns the text view of a value, which interpolation, `+=` to a text, shells and built-in transformers use
 * (values.md 6.2 and 15.3). Never fails.
 */
import { Annotated, HostObject, type Value } from './value.js';
import { withExactNumbers } from './formats/exact-numbers.js';
import { Callable } from './kinds/callable.js';
import { isFileList } from './kinds/element.js';
import { isDataObject } from './plain-object.js';

export function textOf(value: Value): string {
  if (typeof value === 'string') return value;
  if (value === null) return 'null';
  if (typeof value !== 'object') return value === undefined ? '' : String(value);
  if (value instanceof Annotated) return originalText(value) ?? withExactNumbers(textOf(value.data), value.text ?? '');
  if (value instanceof Callable) return String(value.toJSON());
  if (value instanceof HostObject) return value.toJSON();
  if (isFileList(value)) return value.map(textOf).join('\n\n');
  return compactJson(value);
}

/** Returns the text view that the value has beside its data; undefined where the data decides. */
export function originalText(value: Value): string | undefined {
  return value instanceof Annotated && !value.metadata.isPrinted ? value.text : undefined;
}

/** Returns the text as a command printed it, where the value is its result and nothing was made of it. values.md 15.3. */
export function printedText(value: Value): string | undefined {
  if (!(value instanceof Annotated)) return undefined;
  const { command, file } = value.metadata;
  return command && !file ? value.text : undefined;
}

/**
 * Returns the text that the methods of texts work on for a loaded file of data: its raw text, where the data has no member of the name.
 * world.md 9.
 */
export function loadedText(value: Value, name: string): string | undefined {
  if (!(value instanceof Annotated) || !value.metadata.file || typeof value.data === 'string') return undefined;
  return isDataObject(value.data) && Object.hasOwn(value.data, name) ? undefined : originalText(value);
}

/** Does what `compactJson` does, with the digits of the text that the data was read from, where it has one. */
export function compactText(value: Value): string {
  const text = value instanceof Annotated ? value.text : undefined;
  return withExactNumbers(compactJson(value), text ?? '');
}

/** Writes JSON without blanks or metadata. NaN and infinities are `null`; functions and objects of the host are their texts. */
export function compactJson(value: Value): string {
  return JSON.stringify(value) ?? 'null';
}
