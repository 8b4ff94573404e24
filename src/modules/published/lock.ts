/**
 * `mlld-lock.json`: which modules a project has, and the digests of their files. Pure. docs/decisions/0047-modules.md.
 *
 * LOCK-1 An entry that another program wrote, and that lacks what is needed here, is kept as it is and counts as missing.
 * LOCK-2 No text of the lock becomes part of a path unchecked: names, digests and formats have to match their patterns.
 */
import path from 'node:path';
import { isObject, type JsonObject } from '../../../journal/json-object.js';
import { MlldError } from '../../errors.js';
import { isVersion, parseModuleName } from './module-name.js';

export const LOCK_FILE = 'mlld-lock.json';
/** The default of `modules.folder`, below the root of the project. */
export const MODULES_FOLDER = '.mlld/modules';

/** The endings that the file of a module may have. */
export const FORMATS = ['mld.md', 'mld', 'md'] as const;
export type ModuleFormat = (typeof FORMATS)[number];

export interface LockedModule {
  /** `@author/name` */
  readonly name: string;
  readonly version?: string;
  /** Digest of the bytes of the file, in hexadecimal. */
  readonly sha256: string;
  readonly format: ModuleFormat;
  /** The address that it was fetched from, or the path of the file that was copied, relative to the root of the project. */
  readonly source: string;
  /** The address of the index that named the source. */
  readonly registry?: string;
  /** Names of the modules that it imports. */
  readonly imports?: readonly string[];
  /** It was added because another module imports it. */
  readonly transitive?: true;
}

export interface Lock {
  readonly modules: ReadonlyMap<string, LockedModule>;
  /** All members of the file, also those that are not understood here (LOCK-1). */
  readonly whole: JsonObject;
}

export const EMPTY_LOCK: Lock = { modules: new Map(), whole: {} };

/** Throws LOCK_INVALID for a file that is not JSON or holds something other than it should. `file` is for the message. */
export function parseLock(text: string, file: string): Lock {
  let whole: unknown;
  try {
    whole = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw invalid(`${LOCK_FILE} is not valid JSON: ${(cause as Error).message}`, file, text, cause);
  }
  if (!isObject(whole)) throw invalid(`${LOCK_FILE} must hold a JSON object`, file, text);
  const entries = whole['modules'] ?? {};
  if (!isObject(entries)) throw invalid(`"modules" in ${LOCK_FILE} must be an object`, file, text);
  const modules = Object.entries(entries).flatMap(([name, entry]) => {
    const locked = lockedModule(name, entry);
    return locked ? [[name, locked] as const] : [];
  });
  return { modules: new Map(modules), whole };
}

/** Returns the text of the lock with these modules; entries of other programs stay, but for the `removed`. */
export function lockText({ whole }: Lock, modules: ReadonlyMap<string, LockedModule>, removed: ReadonlySet<string>): string {
  const before = isObject(whole['modules']) ? whole['modules'] : {};
  const kept = Object.entries(before).filter(([name]) => !removed.has(name) && !modules.has(name));
  // The name is the key of the entry, and undefined members are left out.
  const own = [...modules].map(([name, entry]) => [name, { ...entry, name: undefined }] as const);
  const entries = [...kept, ...own].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify({ lockfileVersion: 1, ...whole, modules: Object.fromEntries(entries) }, undefined, 2)}\n`;
}

/** Returns the name of the module's file inside its folder, which has the digest as its name. */
export function storedName({ name, format }: Pick<LockedModule, 'name' | 'format'>): string {
  return `${name.slice(name.indexOf('/') + 1)}.${format}`;
}

export function storedPath(folder: string, module: Pick<LockedModule, 'name' | 'sha256' | 'format'>): string {
  return path.join(folder, module.sha256, storedName(module));
}

function lockedModule(name: string, entry: unknown): LockedModule | undefined {
  if (parseModuleName(name)?.name !== name || !isObject(entry)) return undefined;
  const { version, sha256, source, registry, imports, transitive } = entry;
  const format = FORMATS.find((each) => each === entry['format']);
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256) || typeof source !== 'string' || !format) return undefined;
  return {
    name,
    ...(typeof version === 'string' && isVersion(version) && { version }),
    sha256,
    format,
    source,
    ...(typeof registry === 'string' && { registry }),
    ...(Array.isArray(imports) && { imports: imports.filter((each) => typeof each === 'string') }),
    ...(transitive === true && { transitive }),
  };
}

function invalid(message: string, file: string, text: string, cause?: unknown): MlldError {
  return new MlldError('LOCK_INVALID', message, {
    location: { file, at: 0, text },
    hint: 'take it back from version control, or delete it and add the modules again: mlld modules add NAME',
    cause,
  });
}
