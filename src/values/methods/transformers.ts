/**
 * Implements the built-in pipe stages, which may also be called as functions (values.md 11.2 to 11.7 and 12).
 * They work on the text view; labels of the input and of the arguments flow to the result.
 */
import { annotate, type Data, dataOf, type DataObject, flow, type Value } from '../value.js';
import { sortByText } from './array-methods.js';
import { toCsv } from '../formats/csv.js';
import { normaliseDocument } from '../kinds/document.js';
import { withExactNumbers } from '../formats/exact-numbers.js';
import { parseStructure, valueOfText } from '../formats/json-text.js';
import { kept } from '../keep-metadata.js';
import { kindOf } from '../kinds/kind.js';
import { parseAnswer, parseLines, parseLoose, parseStrict } from '../formats/parse.js';
import { isDataObject, putEntry } from '../plain-object.js';
import { indentedJson } from '../show.js';
import { textOf } from '../text.js';
import { toXml } from '../formats/xml.js';

export type Transformer = (value: Value, args: readonly Value[]) => Value | Promise<Value>;

/** Maps names to stages; a variant follows a point (`parse.llm`). To be read by `findTransformer`. */
export const transformers: { readonly [name: string]: Transformer } = withAliases({
  upper: labelled((value) => valueOfText(textOf(value).toUpperCase())),
  lower: labelled((value) => valueOfText(textOf(value).toLowerCase())),
  trim: labelled((value) => valueOfText(textOf(value).trim())),
  ...parsers('parse'),
  ...parsers('json', withPrettyText),
  xml: labelled(toXml),
  csv: labelled(toCsv),
  md: labelled((value) => normaliseDocument(textOf(value))),
  pretty: labelled(pretty),
  sort: labelled(sort),
  typeof: labelled(kindOf),
  typeInfo: labelled(describe),
  exists: labelled((value) => value !== undefined),
  keep: kept,
  keepStructured: kept,
});

/** Finds a built-in stage by its name as written, without the `@`. */
export function findTransformer(name: string): Transformer | undefined {
  return Object.hasOwn(transformers, name) ? transformers[name] : undefined;
}

function labelled(transform: (value: Value) => Value): Transformer {
  return (value, args) => flow(transform(value), [value, ...args]);
}

/** `@json` is an older form of `@parse`, whose result has another text view. `finish` makes the result of the data. */
function parsers(name: 'parse' | 'json', finish: (data: Data) => Value = (data) => data): { readonly [name: string]: Transformer } {
  const loose =
    (stage: string): Transformer =>
    async (value, args) =>
      flow(finish(await parseLoose(value, stage)), [value, ...args]);
  return {
    [name]: loose(name),
    [`${name}.loose`]: loose(`${name}.loose`),
    [`${name}.strict`]: labelled((value) => finish(parseStrict(value, `${name}.strict`))),
    [`${name}.llm`]: async (value, args) => flow(finish(await parseAnswer(value)), [value, ...args]),
    [`${name}.fromlist`]: labelled((value) => finish(parseLines(value))),
  };
}

function withPrettyText(data: Data): Value {
  return typeof data === 'object' && data !== null ? annotate(data, { text: indentedJson(data) }) : data;
}

/** Adds every stage under its name in capitals. */
function withAliases(table: { readonly [name: string]: Transformer }): { readonly [name: string]: Transformer } {
  const aliases = Object.entries(table).map(([name, transformer]) => {
    const [stage = name, ...variant] = name.split('.');
    return [[stage.toUpperCase(), ...variant].join('.'), transformer] as const;
  });
  return { ...Object.fromEntries(aliases), ...table };
}

/** Returns the value itself, or the one that its text holds. */
function structureOf(value: Value): Data {
  const data = dataOf(value) ?? null;
  return typeof data === 'string' ? (parseStructure(data) ?? data) : data;
}

/** Returns the value with indented JSON as its text view. */
function pretty(value: Value): Value {
  const data = structureOf(value);
  return typeof data === 'object' && data !== null
    ? annotate(data, { text: withExactNumbers(indentedJson(data), textOf(value)) })
    : textOf(data);
}

function sort(value: Value): Value {
  const data = structureOf(value);
  if (Array.isArray(data)) return sortByText(data);
  if (isDataObject(data)) return sortKeys(data);
  return sortByText(textOf(data).split('\n')).join('\n');
}

function sortKeys(object: DataObject): Value {
  const sorted: Record<string, Value> = {};
  for (const key of Object.keys(object).toSorted()) putEntry(sorted, key, object[key]);
  return sorted;
}

/** Implements `@typeInfo`: one line for people who debug. */
function describe(value: Value): string {
  const data = dataOf(value);
  if (typeof data === 'string') return `string (${data.length} characters)`;
  if (Array.isArray(data)) return `array (${data.length} elements)`;
  return isDataObject(data) ? `object (${Object.keys(data).join(', ')})` : kindOf(value);
}
