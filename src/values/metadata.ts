/**
 * Implements `.mx`, the metadata of a value (values.md 14, world.md 9): labels, sizes, origin.
 * Fields with data of the value carry its labels; fields about it do not.
 */
import {
  type CommandFacts,
  dataOf,
  type DataObject,
  type FileFacts,
  flow,
  guardSourcesOf,
  labelsOf,
  metadataOf,
  taintOf,
  type Value,
} from './value.js';
import { kindOf } from './kinds/kind.js';
import { isErrorMarker } from './kinds/marker.js';
import { isDataObject } from './plain-object.js';
import { textOf } from './text.js';

/** Describes the variable that the value was read from. */
export interface Binding {
  readonly name?: string | undefined;
  readonly definedAt?: { readonly line: number; readonly column: number; readonly filePath: string } | undefined;
  /** The position of a loop variable in the source, from 0, and its key. */
  readonly index?: number | undefined;
  readonly key?: string | number | undefined;
}

/** Returns one field; null when there is no such field, or it has no value. */
export function mxField(value: Value, name: string, binding?: Binding): Value {
  return Object.hasOwn(FIELDS, name) ? (FIELDS[name]?.(value, binding) ?? null) : null;
}

/** Returns all fields that have a value, as one object: `@x.mx` without a field behind it. */
export function mxObject(value: Value, binding?: Binding): Value {
  const object: Record<string, Value> = {};
  const read: Value[] = [];
  for (const [name, field] of Object.entries(FIELDS)) {
    const content = field(value, binding);
    if (content === null || content === undefined || (name === 'failed' && content === false)) continue;
    object[name] = dataOf(content);
    read.push(content);
  }
  return flow(object, read);
}

type Field = (value: Value, binding: Binding | undefined) => Value;

const FIELDS: { readonly [name: string]: Field } = {
  name: (_, binding) => binding?.name,
  labels: (value) => labelsOf(value),
  taint: taintOf,
  sources: origins,
  definedAt: (_, binding) => binding?.definedAt && { ...binding.definedAt },
  index: (_, binding) => binding?.index,
  key: (_, binding) => binding?.key,
  type,
  text: (value) => (isSized(value) ? flow(textOf(value), [value]) : null),
  data: (value) => (isSized(value) ? flow(dataOf(value), [value]) : null),
  length: (value) => (isSized(value) ? textOf(value).length : null),
  tokens,
  tokest: tokens,
  keys: (value) => ofEntries(value, (object) => Object.keys(object)),
  values: (value) => ofEntries(value, (object) => Object.values(object)),
  entries: (value) => ofEntries(value, (object) => Object.entries(object)),
  filename: ofFile((file) => lastPart(file.absolute)),
  relative: ofFile((file) => file.relative),
  absolute: ofFile((file) => file.absolute),
  path: ofFile((file) => file.absolute),
  dirname: ofFile((file) => lastPart(parent(file.absolute))),
  relativeDir: ofFile((file) => parent(file.relative)),
  absoluteDir: ofFile((file) => parent(file.absolute) || '/'),
  fm: ofFile((file) => file.frontmatter),
  source: (value) => metadataOf(value)?.command?.source ?? (metadataOf(value)?.file ? 'load-content' : null),
  command: ofCommand((command) => command.command),
  exitCode: ofCommand((command) => command.exitCode),
  duration: ofCommand((command) => command.durationMs),
  stderr: ofCommand((command) => command.stderr),
  usage: (value) => metadataOf(value)?.measured?.()?.usage,
  cost: (value) => metadataOf(value)?.measured?.()?.usage?.['costUsd'],
  model: (value) => metadataOf(value)?.measured?.()?.usage?.['model'],
  session: (value) => {
    const session = metadataOf(value)?.measured?.()?.session;
    return session === undefined ? null : flow(session, [value]);
  },
  failed: isErrorMarker,
};

/** The names of all fields, for whoever writes a script. */
export const METADATA_FIELDS: readonly string[] = Object.keys(FIELDS);

/** False for null, functions and objects of the host, which have neither text nor data. */
function isSized(value: Value): boolean {
  const kind = kindOf(value);
  return kind !== 'null' && kind !== 'undefined' && kind !== 'executable';
}

function type(value: Value): Value {
  const kind = kindOf(value);
  if (!metadataOf(value)?.file) return kind;
  if (kind === 'string') return 'text';
  return kind === 'object' || kind === 'array' ? kind : 'json';
}

/** Names what the value was read from, and the guards that replaced what it was made of; informative only. */
function origins(value: Value): Value {
  const { file, command } = metadataOf(value) ?? {};
  const origin = file?.absolute ?? command?.command;
  return [...(origin === undefined ? [] : [origin]), ...guardSourcesOf(value)];
}

const CODE_ENDINGS = ['py', 'js', 'ts', 'java', 'c', 'cpp', 'cs', 'go', 'rs'];
const MARKUP_ENDINGS = ['json', 'yaml', 'yml', 'toml', 'xml', 'html'];

/** Estimates tokens: characters by the number of them that usually make a token in such a file. */
function tokens(value: Value): Value {
  if (!isSized(value)) return null;
  return Math.ceil(textOf(value).length / charactersPerToken(metadataOf(value)?.file));
}

function charactersPerToken(file: FileFacts | undefined): number {
  const ending = file?.absolute.slice(file.absolute.lastIndexOf('.') + 1).toLowerCase() ?? '';
  if (CODE_ENDINGS.includes(ending)) return 3;
  return MARKUP_ENDINGS.includes(ending) ? 5 : 4;
}

function ofEntries(value: Value, read: (object: DataObject) => Value): Value {
  const data = dataOf(value);
  return isDataObject(data) ? flow(read(data), [value]) : null;
}

function ofFile(read: (file: FileFacts) => Value): Field {
  return (value) => {
    const file = metadataOf(value)?.file;
    return file ? read(file) : null;
  };
}

function ofCommand(read: (command: CommandFacts) => Value): Field {
  return (value) => {
    const command = metadataOf(value)?.command;
    return command ? flow(read(command), [value]) : null;
  };
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function parent(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
