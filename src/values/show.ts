/** Writes values as text for people: the output of `show`, and JSON in its layouts (values.md 15.1 and 15.2). */
import { Annotated, dataOf, type DataObject, HostObject, type Value } from './value.js';
import { Callable } from './kinds/callable.js';
import { isFileList } from './kinds/element.js';
import { withExactNumbers } from './formats/exact-numbers.js';
import { parseStructure } from './formats/json-text.js';
import { namespaceDisplay, namespaceOf } from './kinds/namespace.js';
import { compactJson, printedText, textOf } from './text.js';

export { normaliseDocument } from './kinds/document.js';

/** A list of one element is written on one line up to this many characters. */
const SHORT_LIST_MAX = 60;

/** Returns a text without a final line end; the empty text for null and undefined. */
export function showText(value: Value): string {
  if (typeof value === 'string') return showPlainText(value);
  if (value === null || value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  if (value instanceof Annotated) return showAnnotated(value);
  if (value instanceof Callable || value instanceof HostObject || isFileList(value)) return textOf(value);
  return layoutJson(value);
}

function showPlainText(text: string): string {
  const data = parseStructure(text);
  return data === undefined ? text : withExactNumbers(layoutJson(data), text);
}

function showAnnotated(value: Annotated): string {
  const printed = printedText(value);
  if (printed !== undefined) return printed;
  const { file } = value.metadata;
  const { text } = value;
  if (file && text !== undefined) return showFile(file.absolute.toLowerCase(), text, value);
  return withExactNumbers(showText(value.data), text ?? '');
}

/** Returns the text of the file; of a strict `.json` file the data. Records of a `.jsonl` file are lines even when there is only one. */
function showFile(name: string, text: string, value: Annotated): string {
  if (name.endsWith('.jsonl')) return text;
  return name.endsWith('.json') && isStrictJson(text) ? withExactNumbers(showText(value.data), text) : showPlainText(text);
}

function isStrictJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Writes the layout of values.md 15.2: small data on one line, the rest indented by two blanks. Scalars as JSON. */
export function layoutJson(value: Value): string {
  const namespace = namespaceOf(value);
  const data = namespace ? namespaceDisplay(namespace) : dataOf(value);
  if (Array.isArray(data)) {
    const compact = data.length === 1 && isScalar(data[0]) ? compactJson(data) : '';
    return compact !== '' && compact.length <= SHORT_LIST_MAX ? compact : indentedJson(data);
  }
  if (isScalar(data)) return compactJson(data);
  const entries = Object.entries(data as DataObject);
  const [only] = entries;
  if (only && entries.length === 1 && isScalar(only[1])) return `{${JSON.stringify(only[0])}: ${compactJson(only[1])}}`;
  return indentedJson(data);
}

/** Indents two blanks per level, always expanded; empty collections are `[]` and `{}`. */
export function indentedJson(value: Value): string {
  return JSON.stringify(value, null, 2) ?? 'null';
}

function isScalar(value: Value): boolean {
  const data = dataOf(value);
  return typeof data !== 'object' || data === null || data instanceof Callable || data instanceof HostObject;
}
