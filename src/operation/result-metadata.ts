/**
 * The metadata of a result: the file that it was loaded from, the command that printed it, the text that it was read from. It is recorded
 * beside the result, so that a reused result has the metadata of a fresh one.
 *
 * METADATA-1  Files are recorded by their path in the project, so that they are found after the project was moved.
 * METADATA-2  A long command line is cut, in a fresh result as in a reused one: it may hold a whole prompt.
 */
import path from 'node:path';
import type { Json, ResultMetadata } from '../../journal/event.js';
import { Signal, type Outcome } from '../runtime/completion.js';
import { toJson } from '../values/native.js';
import { isDataObject, putEntry } from '../values/plain-object.js';
import { shortened } from '../values/shortened.js';
import {
  FILE_SOURCES,
  annotate,
  Annotated,
  dataOf,
  type CommandFacts,
  type Data,
  type FileFacts,
  NO_LABELS,
  type Metadata,
  type Value,
} from '../values/value.js';

const COMMAND_UNITS = 1000;

/** `hasText`: the text of the whole value is the recorded result. `hasParts`: its data holds values with metadata of their own. */
export function recordedMetadata(
  value: Value,
  { hasText, hasParts }: { readonly hasText: boolean; readonly hasParts: boolean },
): ResultMetadata[] {
  const found: ResultMetadata[] = [];
  collect(value, [], hasText, found);
  if (hasParts) collectFromParts(dataOf(value), [], found);
  return found;
}

function collect(value: Value, at: readonly (string | number)[], hasText: boolean, found: ResultMetadata[]): void {
  if (!(value instanceof Annotated)) return;
  const { file, command, isPrinted, isResult, isKept } = value.metadata;
  const text = hasText ? undefined : value.text;
  const known = {
    ...(text !== undefined && { text }),
    ...(file && { file: recordedFile(file) }),
    ...(command && { command: recordedCommand(command) }),
    ...(isPrinted && { isPrinted }),
    ...(isResult && { isResult }),
    ...(isKept && { isKept }),
  };
  if (Object.keys(known).length > 0) found.push({ ...(at.length > 0 && { at }), ...known });
}

function collectFromParts(data: Data | undefined, at: readonly (string | number)[], found: ResultMetadata[]): void {
  if (typeof data !== 'object' || data === null) return;
  const entries = Array.isArray(data) ? data.entries() : isDataObject(data) ? Object.entries(data) : [];
  for (const [key, part] of entries as Iterable<[string | number, Value]>) {
    const place = [...at, key];
    collect(part, place, false, found);
    collectFromParts(dataOf(part), place, found);
  }
}

function recordedFile({ relative, frontmatter }: FileFacts): NonNullable<ResultMetadata['file']> {
  return { path: relative, ...(frontmatter !== undefined && { frontmatter: toJson(frontmatter) }) };
}

function recordedCommand({ source, command, exitCode, durationMs, stderr }: CommandFacts): NonNullable<ResultMetadata['command']> {
  return { source, line: command, durationMs, ...(exitCode !== 0 && { exitCode }), ...(stderr !== '' && { stderr }) };
}

/** Cuts the command line of a fresh result (METADATA-2). */
export function withShortCommand(result: Outcome): Outcome {
  if (result instanceof Signal) return result.hasValue ? new Signal(result.word, shortCommandIn(result.value), true) : result;
  return shortCommandIn(result);
}

function shortCommandIn(result: Value): Value {
  if (!(result instanceof Annotated)) return result;
  const { command } = result.metadata;
  if (command === undefined || command.command.length <= COMMAND_UNITS) return result;
  return result.withMetadata({ ...result.metadata, command: { ...command, command: shortened(command.command, COMMAND_UNITS) } });
}

/** Adds the recorded metadata to a decoded result. `root`: the project's folder (METADATA-1). */
export function withMetadata(value: Value, recorded: readonly ResultMetadata[], root: string): Value {
  if (recorded.length === 0) return value;
  const parts = recorded.filter(({ at }) => at !== undefined);
  const data = parts.length === 0 ? dataOf(value) : withParts(toJson(value), parts, root);
  const whole = recorded.find(({ at }) => at === undefined);
  const text = value instanceof Annotated ? value.metadata.text : undefined;
  return annotate(data, { ...(text !== undefined && { text }), ...(whole && metadataFrom(whole, root)) });
}

/** Inner parts first: a loaded file holds none, but a list in a list may. */
function withParts(json: Json, parts: readonly ResultMetadata[], root: string): Data {
  const data = structuredClone(json) as Data;
  for (const part of [...parts].reverse()) {
    const { at = [] } = part;
    const holder = at.slice(0, -1).reduce<Value>(memberOf, data);
    const key = at.at(-1);
    const members = dataOf(holder);
    const held = key === undefined ? undefined : memberOf(members, key);
    if (key === undefined || held === undefined) continue; // the journal was edited by hand
    const sources = part.file ? FILE_SOURCES : NO_LABELS;
    putEntry(members as Record<string, Value>, String(key), annotate(dataOf(held), { ...metadataFrom(part, root), sources }));
  }
  return data;
}

function memberOf(holder: Value, key: string | number): Value {
  const data = dataOf(holder);
  if (typeof data !== 'object' || data === null || !Object.prototype.propertyIsEnumerable.call(data, key)) return undefined;
  return (data as { readonly [key: string]: Value })[key];
}

/** Returns the metadata of a whole or a part, without labels: they follow from the call that reuses the result. */
export function metadataFrom({ text, file, command, isPrinted, isResult, isKept }: ResultMetadata, root: string): Partial<Metadata> {
  return {
    ...(text !== undefined && { text }),
    ...(file && { file: fileFrom(file, root) }),
    ...(command && { command: commandFrom(command) }),
    ...(isPrinted && { isPrinted }),
    ...(isResult && { isResult }),
    ...(isKept && { isKept }),
  };
}

function fileFrom({ path: relative, frontmatter }: NonNullable<ResultMetadata['file']>, root: string): FileFacts {
  return { absolute: path.resolve(root, relative), relative, ...(frontmatter !== undefined && { frontmatter: frontmatter as Data }) };
}

function commandFrom({ source, line, durationMs, exitCode = 0, stderr = '' }: NonNullable<ResultMetadata['command']>): CommandFacts {
  return { source, command: line, exitCode, durationMs, stderr };
}
