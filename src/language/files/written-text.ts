/** Turns values into the text that `output` and `append` write. world.md 14. */
import { withExactNumbers } from '../../values/formats/exact-numbers.js';
import { parseStructure } from '../../values/formats/json-text.js';
import { isFileList } from '../../values/kinds/element.js';
import { toYaml } from '../../values/formats/frontmatter.js';
import { compactJson, compactText, printedText, textOf } from '../../values/text.js';
import { indentedJson } from '../../values/show.js';
import { Annotated, dataOf, HostObject, metadataOf, type Value } from '../../values/value.js';
import { Callable } from '../../values/kinds/callable.js';

/** Returns a loaded file as its raw text, the result of a pipeline as JSON on one line, and other data as indented JSON. */
export function writtenText(value: Value): string {
  const printed = printedText(value);
  if (printed !== undefined) return printed;
  if (isStructure(value))
    return metadataOf(value)?.isResult ? compactText(value) : withExactNumbers(indentedJson(value), sourceOf(value) ?? '');
  return (dataOf(value) ?? null) === null ? 'null' : textOf(value);
}

/** Does what `formatted` does, for a file: one of `as json` ends with a line end, as programs that read lines expect it. */
export async function fileText(value: Value, format: string | undefined): Promise<string> {
  const text = await formatted(value, format);
  return format !== 'json' || text.endsWith('\n') || jsonIn(text) === undefined ? text : `${text}\n`;
}

/** Applies `as json` or `as yaml`; other formats, and text that is not JSON, change nothing. */
export async function formatted(value: Value, format: string | undefined): Promise<string> {
  const text = writtenText(value);
  if (format !== 'json' && format !== 'yaml') return text;
  const data = isStructure(value) ? dataOf(value) : jsonIn(text);
  if (data === undefined) return text;
  return format === 'json' ? withExactNumbers(indentedJson(data), sourceOf(value) ?? text) : toYaml(data);
}

/** Returns one line of a `.jsonl` file: text that is JSON is written as that JSON, other text as a JSON string. */
export function recordLine(value: Value): string {
  const printed = printedText(value);
  if (printed !== undefined) return withoutBlanks(printed);
  const data = dataOf(value);
  if (typeof data !== 'string') return compactText(value ?? null);
  const json = jsonIn(data);
  return json === undefined ? JSON.stringify(data) : withExactNumbers(compactJson(json), data);
}

/** Puts JSON on one line, and keeps the spelling of its texts and numbers. */
function withoutBlanks(json: string): string {
  return json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
}

/** Returns the text that data was read from. */
function sourceOf(value: Value): string | undefined {
  return value instanceof Annotated ? value.text : undefined;
}

function isStructure(value: Value): boolean {
  const data = dataOf(value);
  if (typeof data !== 'object' || data === null || data instanceof Callable || data instanceof HostObject) return false;
  if (isFileList(data)) return false;
  // Data that was parsed from a command's output is data; a file, and a glob without a match, is its text.
  const text = value instanceof Annotated ? value.text : undefined;
  return text === undefined || (text !== '' && !metadataOf(value)?.file);
}

function jsonIn(text: string): Value {
  const structure = parseStructure(text);
  if (structure !== undefined) return structure;
  try {
    return JSON.parse(text) as Value;
  } catch {
    return undefined;
  }
}
