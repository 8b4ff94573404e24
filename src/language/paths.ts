/** Resolves the paths of a script. world.md 4. */
import path from 'node:path';
import type { HolePart, TemplatePart } from '../../grammar/ast.js';
import { MlldError } from '../errors.js';
import { locationOf, undefinedVariable } from '../runtime/errors.js';
import type { Frame } from '../runtime/frame.js';
import type { WorkingDirectory } from '../runtime/operation.js';
import type { Settings } from '../runtime/settings.js';
import { performEffect } from '../operation/perform-effect.js';
import { aKind, kindOf } from '../values/kinds/kind.js';
import { textOf } from '../values/text.js';
import { labelsOf, type Value } from '../values/value.js';
import { lenient, renderText } from '../runtime/evaluator-ports.js';
import { leavesFolder, resolvePrefix } from '../world/files/resolver-prefix.js';

export interface ResolvedPath {
  /** Is the path as it is written, for messages. */
  readonly written: string;
  readonly absolute: string;
  /** Has its variables filled in, and is relative where the written path is. */
  readonly name: string;
  /** Is the folder that `rest` starts from. They are apart because the root of a glob may itself hold glob characters. */
  readonly root: string;
  readonly rest: string;
  /** Says which name in it is not defined, for hints: it stays as it is written. */
  readonly unknown?: string | undefined;
  /** The values in it that carry labels. */
  readonly labelled: readonly Value[];
}

/** Resolves a path that is read, from the folder of the file that contains it. Throws EMPTY_PATH, PATH_NOT_TEXT. */
export async function resolvePath(parts: readonly TemplatePart[], frame: Frame, at: number): Promise<ResolvedPath> {
  let unknown: string | undefined;
  const place = await resolveFrom(frame.module.directory, parts, frame, at, (error) => {
    unknown ??= `${error.message}, so it stays in the path as it is written${error.hint === undefined ? '' : `: ${error.hint}`}`;
  });
  return unknown === undefined ? place : { ...place, unknown };
}

/** Resolves a path that is written. Throws UNKNOWN_VARIABLE too, because a file of a name that nobody meant would stay. */
export async function resolveTarget(parts: readonly TemplatePart[], frame: Frame, at: number): Promise<ResolvedPath> {
  return resolveFrom(writeDirectory(frame), parts, frame, at);
}

async function resolveFrom(
  directory: string,
  parts: readonly TemplatePart[],
  frame: Frame,
  at: number,
  onUnknown?: OnUnknown,
): Promise<ResolvedPath> {
  const written = writtenPath(parts);
  const start = await startOf(parts, frame);
  const { text: rest, labelled } = await renderLabelledPath(start ? start.parts : parts, frame, onUnknown);
  if (rest.trim() === '' && !start) {
    throw new MlldError('EMPTY_PATH', written === '' ? 'The path is empty' : `The path ${written} is empty`, {
      location: locationOf(frame.module, at),
    });
  }
  if (!start) return { written, name: rest, absolute: path.resolve(directory, rest), root: directory, rest, labelled };
  const below = rest.replace(/^\/+/, '');
  const absolute = path.resolve(start.root, below);
  if (start.isPrefix && leavesFolder(start.root, absolute)) throw prefixEscape(written, frame, at);
  return { written, name: absolute, absolute, root: start.root, rest: below, labelled };
}

/** A resolver prefix stands for a folder, and what it begins stays in there. */
export function prefixEscape(written: string, frame: Frame, at: number): MlldError {
  return new MlldError('PREFIX_ESCAPE', `${written} leaves the folder of its resolver prefix`, {
    location: locationOf(frame.module, at),
    hint: 'write @root/… for a file elsewhere in the project',
  });
}

/** Returns the absolute path for a path in a value. */
export function resolveText(text: string, frame: Frame): string {
  return path.resolve(frame.module.directory, text);
}

/**
 * Resolves the working directory of a command: `cmd:@root/sub { … }`. Throws WORKING_DIRECTORY for a relative path, which would depend on
 * the folder that mlld was started in. world.md 15.
 */
export async function resolveDirectory(parts: readonly TemplatePart[], frame: Frame): Promise<WorkingDirectory> {
  const { text, labelled } = await renderLabelledPath(parts, frame);
  const expanded = text === '~' || text.startsWith('~/') ? `${await homeDirectory(frame)}${text.slice(1)}` : text;
  if (path.isAbsolute(expanded)) return { directory: path.resolve(expanded), labelled };
  const hole = parts.find((part) => part.kind === 'hole');
  throw new MlldError('WORKING_DIRECTORY', `The working directory must be an absolute path, and "${text}" is relative`, {
    location: hole && locationOf(frame.module, hole.at),
    hint: `cmd:@root/${text.replace(/^(\.?\/)+/, '')} starts at the project root`,
  });
}

async function homeDirectory(frame: Frame): Promise<string> {
  const { values } = await performEffect(frame, 'env.read', { names: ['HOME'], prefixes: [] });
  const home = values['HOME'];
  if (home === undefined || home === '')
    throw new MlldError('WORKING_DIRECTORY', 'The working directory ~ is unknown: HOME is not set', {
      hint: 'set HOME, or write an absolute path',
    });
  return home;
}

/** Returns the folder of relative writes: that of the file, but inside a function of a module that of the script. */
export function writeDirectory(frame: Frame): string {
  return frame.stack && !frame.module.isMain ? frame.run.settings.scriptDirectory : frame.module.directory;
}

/** Returns the path that messages show: relative to the working directory where that is shorter. */
export function displayPath(absolute: string, settings: Pick<Settings, 'workingDirectory'>): string {
  const relative = path.relative(settings.workingDirectory, absolute);
  return relative.length < absolute.length ? relative || '.' : absolute;
}

/** Is told of a name that is not defined. */
type OnUnknown = (error: MlldError) => void;

interface RenderedPath {
  readonly text: string;
  readonly labelled: readonly Value[];
}

/**
 * Returns the text of path parts. Unlike in other text, a hole must hold text, a number or a boolean. Throws PATH_NOT_TEXT; a name that is
 * not defined stays as it is written where `onUnknown` is given, else UNKNOWN_VARIABLE is thrown.
 */
export async function renderPath(parts: readonly TemplatePart[], frame: Frame): Promise<string> {
  return (await renderLabelledPath(parts, frame)).text;
}

async function renderLabelledPath(parts: readonly TemplatePart[], frame: Frame, onUnknown?: OnUnknown): Promise<RenderedPath> {
  let text = '';
  const labelled: Value[] = [];
  for (const part of parts) {
    if (part.kind === 'text') {
      text += part.text;
      continue;
    }
    const value = isPlainHole(part) ? await nameIn(part, frame, onUnknown) : await renderText([part], frame);
    if (labelsOf(value).length > 0) labelled.push(value);
    text += textOf(value);
  }
  return { text, labelled };
}

export function writtenPath(parts: readonly TemplatePart[]): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : part.kind === 'hole' ? part.written : '…')).join('');
}

/** Finds the folder of `@root/…`, `@base/…` and `@prefix/…`. A variable with the name of a prefix wins over the configuration. */
async function startOf(
  parts: readonly TemplatePart[],
  frame: Frame,
): Promise<{ root: string; parts: readonly TemplatePart[]; isPrefix?: true } | undefined> {
  const [first, second, ...others] = parts;
  if (first?.kind !== 'hole' || !isPlainHole(first) || first.value.steps.length > 0) return undefined;
  const { name } = first.value;
  const { settings } = frame.run;
  if (frame.scope.find(name)) return undefined;
  if (name === 'root' || name === 'base') return { root: settings.projectRoot, parts: parts.slice(1) };
  if (second?.kind !== 'text') return undefined;
  const prefixed = resolvePrefix(`@${name}${second.text}`, settings.prefixes);
  return prefixed && { root: prefixed.root, parts: [{ kind: 'text', text: prefixed.rest }, ...others], isPrefix: true };
}

function isPlainHole(part: TemplatePart): part is HolePart {
  if (part.kind !== 'hole') return false;
  return part.pipes.length === 0 && !part.negated && !part.optional && !part.then && part.fallback === undefined;
}

async function nameIn(part: HolePart, frame: Frame, onUnknown?: OnUnknown): Promise<Value> {
  const location = locationOf(frame.module, part.at);
  const value = await lenient(part.value, frame).catch((error: unknown) => {
    throw error instanceof MlldError && error.code === 'NO_FIELDS' ? looksLikeField(part, frame) : error;
  });
  const kind = kindOf(value);
  if (kind === 'undefined') {
    const error = undefinedVariable(part.value.name, frame.module, part.at, frame.scope);
    if (!onUnknown) throw error;
    onUnknown(error);
    return part.written;
  }
  if (kind === 'string' || kind === 'number' || kind === 'boolean') return value;
  throw new MlldError('PATH_NOT_TEXT', `${part.written} is ${aKind(value)} and can't be part of a path`, {
    location,
    hint: kind === 'null' ? 'the value is missing: set it, or write `?? "default"`' : 'a path takes texts and numbers',
  });
}

function looksLikeField(part: HolePart, frame: Frame): MlldError {
  const last = part.value.steps.at(-1);
  const field = last?.kind === 'field' ? last.name : '';
  const ended = part.written.endsWith(`.${field}`) ? `${part.written.slice(0, -field.length - 1)}\\.${field}` : `${part.written}\\`;
  return new MlldError('PATH_FIELD', `${part.written} looks like a field access, and there is no such field`, {
    location: locationOf(frame.module, part.at),
    hint: `a backslash ends the name: ${ended}`,
  });
}
