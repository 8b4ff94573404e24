/** What `output` and `append` write for a value. world.md 14. */
import { parseStructure } from '../../values/formats/json-text.js';
import { isFileList } from '../../values/kinds/element.js';
import { toYaml } from '../../values/formats/frontmatter.js';
import { compactJson, textOf } from '../../values/text.js';
import { indentedJson } from '../../values/show.js';
import { Annotated, dataOf, HostObject, metadataOf, type Value } from '../../values/value.js';
import { Callable } from '../../values/kinds/callable.js';

/** A loaded file is its raw text; other data is indented JSON, whatever the target is called; what left a pipeline is one line. */
export function writtenText(value: Value): string {
  if (isStructure(value)) return metadataOf(value)?.isResult ? compactJson(value) : indentedJson(value);
  return (dataOf(value) ?? null) === null ? 'null' : textOf(value);
}

/** `as json`, `as yaml`; formats that don't fit, and text that is not JSON, change nothing. */
export async function formatted(value: Value, format: string | undefined): Promise<string> {
  const text = writtenText(value);
  if (format !== 'json' && format !== 'yaml') return text;
  const data = isStructure(value) ? dataOf(value) : jsonIn(text);
  if (data === undefined) return text;
  return format === 'json' ? indentedJson(data) : toYaml(data);
}

/** One line of a `.jsonl` file: text that is JSON is that JSON, other text a JSON string. */
export function recordLine(value: Value): string {
  const data = dataOf(value);
  if (typeof data !== 'string') return compactJson(data ?? null);
  const json = jsonIn(data);
  return json === undefined ? JSON.stringify(data) : compactJson(json);
}

function isStructure(value: Value): boolean {
  const data = dataOf(value);
  if (typeof data !== 'object' || data === null || data instanceof Callable || data instanceof HostObject) return false;
  if (isFileList(data)) return false;
  // Data that was parsed from what a command printed is data; a file, and a glob without a match, is its text.
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
