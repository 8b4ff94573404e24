/** Evaluates `<file>`: text and data of one file, or of all files that match a glob. world.md 5 to 10. */
import type { Load, LoadPart, TemplatePart } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { displayPath, resolvePath, writtenPath, type ResolvedPath } from '../paths.js';
import { performEffect } from '../../operation/perform-effect.js';
import { parseDataFile } from '../../values/formats/data-files.js';
import { extractSections } from '../../values/formats/sections.js';
import { annotate, flow, type FileFacts, type Metadata, type Value, FILE_SOURCES } from '../../values/value.js';
import { runStages } from '../../runtime/evaluator-ports.js';
import { applyTemplate, renameSection } from './load-as.js';
import { locationOf, siteOfError } from '../../runtime/errors.js';
import { fileMissing } from './unreadable-file.js';
import type { Frame } from '../../runtime/frame.js';
import { headingEntry, headingList, sectionMissing, selectionOf } from './load-section.js';
import { fileFacts, withFile } from './loaded-file.js';

/** Limits how many files of one glob are read at the same time. */
const READS_AT_ONCE = 16;
/** Makes an optional load null. */
const FAILURES: ReadonlySet<string> = new Set(['FILE_NOT_FOUND', 'FILE_UNREADABLE', 'INVALID_JSON', 'SECTION_NOT_FOUND']);

export async function evaluateLoad(node: Load, frame: Frame): Promise<Value> {
  const place = await resolvePath(node.path, frame, node.at);
  try {
    return (await isGlob(node, place, frame)) ? await loadGlob(node, place, frame) : await loadFile(node, place, frame);
  } catch (error) {
    if (node.optional && isFailure(error)) return null;
    throw error;
  }
}

/**
 * Renders `<file>` inside text. A file that cannot be loaded is a warning and leaves no text; with an unknown variable the brackets
 * are text themselves.
 */
export async function renderLoadPart(part: LoadPart, frame: Frame): Promise<Value> {
  const { load, steps, pipes } = part;
  if (mentionsUnknown(load.path, frame)) return `<${writtenPath(load.path)}>`;
  try {
    const value = await frame.evaluate(steps ? { kind: 'chain', at: part.at, base: load, steps } : load, frame);
    return pipes.length > 0 ? await runStages(value, pipes, frame) : value;
  } catch (error) {
    if (!isFailure(error)) throw error;
    frame.run.warn(error.message, `in text ${siteOfError(error)}`);
    return '';
  }
}

/** Returns the absolute paths of the files that a load would read, for `@exists(<…>)`; reads none of them. */
export async function findFiles(node: Load, frame: Frame): Promise<readonly string[]> {
  const place = await resolvePath(node.path, frame, node.at);
  if (await isGlob(node, place, frame)) return matches(place, frame);
  return (await performEffect(frame, 'file.stat', { path: place.absolute })).kind === 'file' ? [place.absolute] : [];
}

function isFailure(error: unknown): error is MlldError {
  return error instanceof MlldError && FAILURES.has(error.code);
}

function mentionsUnknown(parts: readonly TemplatePart[], frame: Frame): boolean {
  const isPrefix = (name: string): boolean => frame.run.settings.prefixes.some(({ prefix }) => prefix.startsWith(`@${name}/`));
  return parts.some(
    (part) => part.kind === 'hole' && !frame.scope.find(part.value.name) && !AMBIENT.has(part.value.name) && !isPrefix(part.value.name),
  );
}

/** Lists names that paths may use although no script declares them. */
const AMBIENT: ReadonlySet<string> = new Set(['root', 'base', 'payload', 'state', 'input', 'mx', 'now']);

const GLOB = /[*?[]/;

/** Names of files may hold glob characters: where they come from a variable and that file exists, the path means the file. */
async function isGlob(node: Load, { rest, absolute }: ResolvedPath, frame: Frame): Promise<boolean> {
  if (!GLOB.test(rest)) return false;
  if (node.path.some((part) => part.kind === 'text' && GLOB.test(part.text))) return true;
  return (await performEffect(frame, 'file.stat', { path: absolute })).kind !== 'file';
}

async function matches({ root, rest }: ResolvedPath, frame: Frame): Promise<readonly string[]> {
  return (await performEffect(frame, 'file.glob', { root, pattern: rest })).paths;
}

async function loadFile(node: Load, place: ResolvedPath, frame: Frame): Promise<Value> {
  const read = await performEffect(frame, 'file.read', { path: place.absolute });
  if (!('text' in read)) throw await fileMissing(place, read, frame, node.at);
  const file = await fileFacts(place.absolute, read.text, frame);
  if (node.section?.list !== undefined) return headingList(node.section, read.text, file);
  if (node.section) {
    const selection = await selectionOf(node.section, frame);
    const { text, missing } = extractSections(read.text, selection);
    if (missing !== undefined) throw sectionMissing(missing, read.text, place.written, node.section, frame);
    return shaped(node, withFile(text, file), frame);
  }
  return shaped(node, await fileValue(read.text, file, displayPath(place.absolute, frame.run.settings), node, frame), frame);
}

/** Leaves out files without the section; a file that can't be parsed is its text. */
async function loadGlob(node: Load, place: ResolvedPath, frame: Frame): Promise<Value> {
  const { section } = node;
  const selection = section && section.list === undefined ? await selectionOf(section, frame) : undefined;
  const items = await inWindows(await matches(place, frame), async (absolute) => {
    const read = await performEffect(frame, 'file.read', { path: absolute });
    if (!('text' in read)) {
      if (read.missing === 'absent') return undefined; // removed since it was listed
      throw await fileMissing({ ...place, absolute, written: displayPath(absolute, frame.run.settings) }, read, frame, node.at);
    }
    const { text } = read;
    const file = await fileFacts(absolute, text, frame);
    if (section?.list !== undefined) return headingEntry(section, text, file);
    if (!selection) return shaped(node, await globItem(text, file), frame);
    const part = extractSections(text, selection);
    return part.missing === undefined ? shaped(node, withFile(part.text, file), frame) : undefined;
  });
  const found = items.filter((item) => item !== undefined);
  if (found.length === 0 && place.unknown !== undefined) frame.run.warn(`${place.written} names no file: ${place.unknown}`);
  // The text view of an empty glob is empty, not the brackets of an empty list.
  return flow(annotate(found, { sources: FILE_SOURCES, ...(found.length === 0 ? unmatched(node, place) : {}) }), found);
}

function unmatched({ optional }: Load, { written, unknown }: ResolvedPath): Partial<Metadata> {
  return { text: '', ...(!optional && unknown === undefined && { unmatched: written }) };
}

async function inWindows<T, R>(list: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let i = 0; i < list.length; i += READS_AT_ONCE) results.push(...(await Promise.all(list.slice(i, i + READS_AT_ONCE).map(work))));
  return results;
}

async function fileValue(text: string, file: FileFacts, name: string, node: Load, frame: Frame): Promise<Value> {
  try {
    return withFile(await parseDataFile(name, text), file);
  } catch (error) {
    if (error instanceof MlldError) error.location ??= locationOf(frame.module, node.at);
    throw error;
  }
}

async function globItem(text: string, file: FileFacts): Promise<Value> {
  const parsed = await parseDataFile(file.absolute, text).catch((error: unknown) => {
    if (error instanceof MlldError) return text;
    throw error;
  });
  return withFile(parsed, file);
}

async function shaped(node: Load, value: Value, frame: Frame): Promise<Value> {
  const { as, section } = node;
  if (!as) return value;
  if (!section || as.quote !== 'double') return applyTemplate(as, value, frame);
  if (section.include.length > 1) {
    throw new MlldError('RENAME_ONE_SECTION', 'Only one section can be renamed with `as "…"`', {
      location: locationOf(frame.module, section.at),
      hint: 'load the sections one by one, or use a backtick template for all of them',
    });
  }
  return renameSection(as, value, frame);
}
