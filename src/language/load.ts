/** `<file>`: texts and data from files, one or many. World sections 5 to 10. */
import path from 'node:path';
import type { Load, LoadPart, Section, SectionItem, TemplatePart } from '../../grammar/ast.js';
import { MlldError } from '../errors.js';
import { displayPath, renderPath, resolvePath, writtenPath, type ResolvedPath } from '../modules/paths.js';
import { askWorld } from '../operation/effect.js';
import { parseDataFile } from '../values/data-files.js';
import { parseYaml, splitFrontmatter } from '../values/frontmatter.js';
import { isDataObject } from '../values/plain-object.js';
import { extractSections, headings, listHeadings, type Selection } from '../values/sections.js';
import { closest } from '../values/suggest.js';
import { annotate, dataOf, noteOf, type Data, type FileFacts, type Value } from '../values/value.js';
import { applyTemplate, renameSection } from './load-as.js';
import { locationOf } from './errors.js';
import { fileMissing } from './files.js';
import type { Frame } from './frame.js';
import { runStages } from './pipeline.js';

const SOURCES = ['src:file'];
/** Files of one glob that are read at the same time. */
const READS_AT_ONCE = 16;
/** What an optional load forgives. An unknown variable in the path is no failure of the load. */
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

/** `<file>` inside text. What cannot be loaded is nothing, and a warning; with an unknown variable it is no path, but text. */
export async function renderLoadPart(part: LoadPart, frame: Frame): Promise<Value> {
  const { load, steps, pipes } = part;
  if (mentionsUnknown(load.path, frame)) return `<${writtenPath(load.path)}>`;
  try {
    const value = await frame.evaluate(steps ? { kind: 'chain', at: part.at, base: load, steps } : load, frame);
    return pipes.length > 0 ? await runStages(value, pipes, frame) : value;
  } catch (error) {
    if (!isFailure(error)) throw error;
    frame.run.warn(error.message);
    return '';
  }
}

/** The absolute paths of the files that a load would read, for `@exists(<…>)`. Nothing is read. */
export async function findFiles(node: Load, frame: Frame): Promise<readonly string[]> {
  const place = await resolvePath(node.path, frame, node.at);
  if (await isGlob(node, place, frame)) return matches(place, frame);
  return (await askWorld(frame, 'file.stat', { path: place.absolute })).kind === 'file' ? [place.absolute] : [];
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

/** Names that stand in paths although no script declares them. */
const AMBIENT: ReadonlySet<string> = new Set(['root', 'base', 'payload', 'state', 'input', 'mx', 'now']);

const GLOB = /[*?[]/;

/** Files may have such characters in their names: where they come from a variable and the file is there, it is meant. */
async function isGlob(node: Load, { rest, absolute }: ResolvedPath, frame: Frame): Promise<boolean> {
  if (!GLOB.test(rest)) return false;
  if (node.path.some((part) => part.kind === 'text' && GLOB.test(part.text))) return true;
  return (await askWorld(frame, 'file.stat', { path: absolute })).kind !== 'file';
}

async function matches({ root, rest }: ResolvedPath, frame: Frame): Promise<readonly string[]> {
  return (await askWorld(frame, 'file.glob', { root, pattern: rest })).paths;
}

async function loadFile(node: Load, place: ResolvedPath, frame: Frame): Promise<Value> {
  const answer = await askWorld(frame, 'file.read', { path: place.absolute });
  if (!('text' in answer)) throw await fileMissing(place, answer, frame, node.at);
  const file = await fileFacts(place.absolute, answer.text, frame);
  if (node.section?.list !== undefined) return headingList(node.section, answer.text, file);
  if (node.section) {
    const selection = await selectionOf(node.section, frame);
    const { text, missing } = extractSections(answer.text, selection);
    if (missing !== undefined) throw sectionMissing(missing, answer.text, place.written, node.section, frame);
    return shaped(node, sectionValue(text, file), frame);
  }
  return shaped(node, await fileValue(answer.text, file, displayPath(place.absolute, frame.run.settings), node, frame), frame);
}

/** Items without the section are left out; those that can't be parsed are their text. */
async function loadGlob(node: Load, place: ResolvedPath, frame: Frame): Promise<Value> {
  const { section } = node;
  const selection = section && section.list === undefined ? await selectionOf(section, frame) : undefined;
  const items = await inWindows(await matches(place, frame), async (absolute) => {
    const answer = await askWorld(frame, 'file.read', { path: absolute });
    if (!('text' in answer)) {
      if (answer.missing === 'absent') return undefined; // removed since it was listed
      throw await fileMissing({ ...place, absolute, written: displayPath(absolute, frame.run.settings) }, answer, frame, node.at);
    }
    const { text } = answer;
    const file = await fileFacts(absolute, text, frame);
    if (section?.list !== undefined) return headingEntry(section, text, file);
    if (!selection) return shaped(node, await globItem(text, file), frame);
    const part = extractSections(text, selection);
    return part.missing === undefined ? shaped(node, sectionValue(part.text, file), frame) : undefined;
  });
  const found = items.filter((item) => item !== undefined);
  // As text an empty glob is nothing, not the brackets of an empty list.
  return annotate(found, { sources: SOURCES, ...(found.length === 0 ? { text: '' } : {}) });
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

function withFile(value: Value, file: FileFacts): Value {
  const text = noteOf(value)?.text;
  return annotate(dataOf(value), { sources: SOURCES, file, ...(text === undefined ? {} : { text }) });
}

function sectionValue(text: string, file: FileFacts): Value {
  return annotate(text, { sources: SOURCES, file });
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

async function fileFacts(absolute: string, text: string, frame: Frame): Promise<FileFacts> {
  const relative = `./${path.relative(frame.run.settings.projectRoot, absolute)}`;
  const frontmatter = text.startsWith('---') || text.startsWith('\uFEFF---') ? await frontmatterOf(text) : undefined;
  return { absolute, relative, ...(frontmatter === undefined ? {} : { frontmatter }) };
}

/** A block that is no YAML, or no map, is text between two rules. */
async function frontmatterOf(text: string): Promise<Data | undefined> {
  const block = splitFrontmatter(text);
  if (!block) return undefined;
  const data = await parseYaml(block.yaml).catch(() => undefined);
  return isDataObject(data) ? data : undefined;
}

function headingList({ list }: Section, text: string, file: FileFacts): Value {
  return annotate(listHeadings(text, list || undefined), { sources: SOURCES, file });
}

function headingEntry({ list }: Section, text: string, { absolute, relative }: FileFacts): Value {
  const names = listHeadings(text, list || undefined);
  return names.length === 0 ? undefined : { names, file: path.basename(absolute), relative, absolute };
}

async function selectionOf({ include, exclude }: Section, frame: Frame): Promise<Selection> {
  const titled = async (items: readonly SectionItem[]) => {
    const titles = [];
    for (const { title, optional } of items) titles.push({ title: await renderPath(title, frame), optional: optional ?? false });
    return titles;
  };
  return { include: await titled(include), exclude: await titled(exclude) };
}

function sectionMissing(title: string, text: string, written: string, section: Section, frame: Frame): MlldError {
  const titles = headings(text).map((heading) => heading.title);
  const near = closest(title, titles);
  return new MlldError('SECTION_NOT_FOUND', `There is no section "${title}" in ${written}`, {
    location: locationOf(frame.module, section.at),
    hint:
      near !== undefined
        ? `did you mean "${near}"?`
        : titles.length === 0
          ? 'the file has no headings'
          : `its headings are: ${titles.slice(0, 10).join(', ')}`,
  });
}
