/** Loads modules from files: `.mld`, markdown, JSON. world.md 11.3 and 11.5. */
import nodePath from 'node:path';
import { sha256 } from '../../journal/canonical.js';
import { messageOf, MlldError } from '../errors.js';
import { locationOf } from '../runtime/errors.js';
import { fileMissing } from '../language/files/unreadable-file.js';
import type { Frame } from '../runtime/frame.js';
import type { Module, ModuleExports } from '../runtime/module.js';
import { templateKind } from '../language/expressions/template-file.js';
import { performEffect } from '../operation/perform-effect.js';
import { recordSource } from '../operation/sources.js';
import { isDataObject } from '../values/plain-object.js';
import { annotate, type Data, type Value } from '../values/value.js';
import { createModule } from '../language/source-module.js';
import { evaluateModule } from './evaluate-module.js';
import { displayPath } from '../language/paths.js';
import { changedModule, RESTORE_HINT } from './published/find-published.js';
import type { LockedModule } from './published/lock.js';

export interface ModulePlace {
  readonly absolute: string;
  /** Is the path that messages show. */
  readonly written: string;
  /** Is the folder that a relative path starts from. */
  readonly root: string;
  /** Is the position of the import. */
  readonly at: number;
  /** Says which name in the path is not defined. */
  readonly unknown?: string | undefined;
  /** Is the entry of the lock, for a published module. */
  readonly locked?: LockedModule;
}

/** Evaluates a module at its first import; every later import shares the result. */
export function moduleAt(place: ModulePlace, frame: Frame): Promise<ModuleExports> {
  refuseCircularImport(place.absolute, place.at, frame);
  const { modules } = frame.run;
  const known = modules.get(place.absolute);
  if (known) return known;
  const loading = loadModule(place, frame);
  modules.set(place.absolute, loading);
  return loading;
}

/** Evaluates a module from an injected text, whose paths are relative to the script. */
export function moduleOfText(name: string, text: string, at: number, frame: Frame): Promise<ModuleExports> {
  refuseCircularImport(name, at, frame);
  const { modules, settings } = frame.run;
  const known = modules.get(name);
  if (known) return known;
  const module = createModule({ path: name, display: name, directory: settings.scriptDirectory, text, importedBy: frame.module });
  const loading = evaluateModule(module, 'strict', frame);
  modules.set(name, loading);
  return loading;
}

async function loadModule(place: ModulePlace, frame: Frame): Promise<ModuleExports> {
  const { absolute } = place;
  const name = nodePath.basename(absolute).toLowerCase();
  if (templateKind(name)) {
    throw new MlldError('TEMPLATE_IMPORT', `${place.written} is a template, and templates are not imported`, {
      location: locationOf(frame.module, place.at),
      hint: `declare a function for it: exe @name(…) = template "${place.written}"`,
    });
  }
  const text = await readModule(place, frame);
  const display = displayPath(absolute, frame.run.settings);
  const module = createModule({ path: absolute, display, directory: nodePath.dirname(absolute), text, importedBy: frame.module });
  await recordSource(frame, absolute, module.text, 'module', place.locked);
  if (name.endsWith('.mld') || name.endsWith('.mlld')) return evaluateModule(module, 'strict', frame);
  if (name.endsWith('.md')) return evaluateModule(module, 'markdown', frame);
  return {
    module,
    values: name.endsWith('.json') ? jsonExports(module) : new Map(),
    interceptors: new Set(),
    listed: false,
    frontmatter: undefined,
  };
}

async function readModule(place: ModulePlace, frame: Frame): Promise<string> {
  const read = await performEffect(frame, 'file.read', { path: place.absolute });
  if ('text' in read) return place.locked ? verified(read.text, place, place.locked, frame) : read.text;
  if (place.locked && read.missing === 'absent') {
    throw new MlldError('MODULE_NOT_ADDED', `The file of the module ${place.locked.name} is missing: ${shown(place, frame)}`, {
      location: locationOf(frame.module, place.at),
      hint: RESTORE_HINT,
    });
  }
  throw await fileMissing(place, read, frame, place.at, 'Module');
}

/** Throws MODULE_CHANGED: the lock says which text the project relies on. Modules are UTF-8, so the text has the digest of the bytes. */
function verified(text: string, place: ModulePlace, { name, sha256: locked }: LockedModule, frame: Frame): string {
  if (sha256(text) === `sha256:${locked}`) return text;
  const { message, hint } = changedModule(name, shown(place, frame));
  throw new MlldError('MODULE_CHANGED', message, { location: locationOf(frame.module, place.at), hint });
}

function shown({ absolute }: ModulePlace, frame: Frame): string {
  return displayPath(absolute, frame.run.settings);
}

/** Exports the members of an object, and any other value as `content`. */
function jsonExports(module: Module): Map<string, Value> {
  const metadata = { sources: ['src:file'] };
  let data: Data;
  try {
    data = JSON.parse(module.text.replace(/^\uFEFF/, '')) as Data;
  } catch (cause) {
    const reason = messageOf(cause);
    throw new MlldError('INVALID_JSON', `${module.display} is not valid JSON: ${reason}`, {
      location: locationOf(module, Number(/at position (\d+)/.exec(reason)?.[1] ?? 0)),
      hint: 'an imported .json file is strict JSON; a load, <file.json>, takes comments and trailing commas',
      cause,
    });
  }
  if (!isDataObject(data)) return new Map([['content', annotate(data, metadata)]]);
  return new Map(Object.entries(data).map(([name, value]) => [name, annotate(value as Data, metadata)]));
}

/** Throws CIRCULAR_IMPORT: modules are evaluated inside each other, so a circle reaches a module that is around the import. */
function refuseCircularImport(path: string, at: number, frame: Frame): void {
  const around: string[] = [];
  for (let module: Module | undefined = frame.module; module; module = module.importedBy) {
    around.unshift(module.display);
    if (module.path !== path) continue;
    throw new MlldError('CIRCULAR_IMPORT', `Circular import: ${[...around, module.display].join(' imports ')}`, {
      location: locationOf(frame.module, at),
      hint: 'move what both need into a third module',
    });
  }
}
