/** Says what modules a project has, whether their files are right, and which are outdated. */
import path from 'node:path';
import { MlldError } from '../../errors.js';
import { storedName, storedPath, type LockedModule } from '../../modules/published/lock.js';
import { findSources } from '../../validate/linking/find-sources.js';
import { sourceFilesOnDisk } from '../../world/files/source-files.js';
import { readIfThere, removeModule, stateOf, storedDigests, type FileState } from '../../world/modules/module-files.js';
import type { Project } from '../project.js';
import { describeModule, formatOf, type ModuleDescription } from './describe-module.js';
import { createFetcher, type Fetcher } from './fetch-module.js';
import { changeLock, modulesOf, readLock, unknownModule, whileOthersWait, type ProjectModules } from './project-modules.js';

export interface ListedModule {
  readonly name: string;
  readonly version: string | null;
  readonly sha256: string;
  readonly source: string;
  /** `link`: a link is in the place of the file, and links are not followed. */
  readonly file: FileState;
  /** Path of the file, relative to the root of the project. */
  readonly path: string;
  /** Modules that it imports. */
  readonly imports: readonly string[];
  /** It was added because another module imports it. */
  readonly transitive: boolean;
}

export interface ModuleList {
  readonly modules: readonly (ListedModule & {
    /** Scripts whose text names it, and modules that import it. */
    readonly usedBy: readonly string[];
    /** Is the text of its frontmatter; absent where there is none, or the file is not verified. */
    readonly about?: string;
    /** Lists the programs, packages and capabilities that it needs. */
    readonly needs?: readonly string[];
  })[];
  /** Digests that have a file and are in no lock. */
  readonly unused: readonly string[];
}

export interface ModuleCheck {
  readonly modules: readonly ListedModule[];
  readonly unused: readonly string[];
  /** All files are there and have their digest. */
  readonly valid: boolean;
}

/** Reads the text of each script of the project, and parses only the modules. */
export async function listModules(project: Project): Promise<ModuleList> {
  const { modules, unused } = await verifyModules(project);
  const uses = modules.length === 0 ? new Map<string, string[]>() : await usesOf(project, modules);
  const { root } = modulesOf(project);
  const described = modules.map(async (module) => ({ ...module, usedBy: uses.get(module.name) ?? [], ...(await purposeOf(module, root)) }));
  return { modules: await Promise.all(described), unused };
}

/** Says nothing of a file that this version can't parse: its import does. */
async function purposeOf({ file, path: place, source }: ListedModule, root: string): Promise<Pick<ModuleDescription, 'about' | 'needs'>> {
  const format = formatOf(place);
  const text = file === 'verified' && format !== undefined ? await readIfThere(path.join(root, place)) : undefined;
  if (text === undefined || format === undefined) return {};
  try {
    const { about, needs } = await describeModule(Buffer.from(text), format, source);
    return { ...(about !== undefined && { about }), ...(needs && { needs }) };
  } catch (error) {
    if (error instanceof MlldError) return {};
    throw error;
  }
}

export async function verifyModules(project: Project): Promise<ModuleCheck> {
  const own = modulesOf(project);
  const lock = await readLock(own);
  const modules: ListedModule[] = [];
  for (const entry of lock.modules.values()) {
    const { name, version = null, sha256, source, imports = [], transitive = false } = entry;
    const file = await stateOf(own.folder, sha256, storedName(entry));
    const place = path.relative(own.root, storedPath(own.folder, entry)).replaceAll(path.sep, '/');
    modules.push({ name, version, sha256, source, file, path: place, imports, transitive });
  }
  return {
    modules,
    unused: await unusedDigests(own.folder, [...lock.modules.values()]),
    valid: modules.every(({ file }) => file === 'verified'),
  };
}

/** A name in a comment counts too: a list that is cheap may name a script too many, and never one too few. */
async function usesOf(project: Project, modules: readonly ListedModule[]): Promise<Map<string, string[]>> {
  const { root, folder } = modulesOf(project);
  const files = sourceFilesOnDisk();
  const uses = new Map<string, string[]>();
  const add = (name: string, user: string): void => void uses.set(name, [...(uses.get(name) ?? []), user]);
  for (const source of await findSources(root, files)) {
    if (source.startsWith(`${folder}${path.sep}`)) continue;
    const text = await files.readText(source);
    if (text === undefined || !text.includes('import')) continue;
    for (const { name } of modules) {
      const at = text.indexOf(name);
      if (at >= 0 && !/[\w-]/.test(text[at + name.length] ?? '')) add(name, path.relative(root, source).replaceAll(path.sep, '/'));
    }
  }
  for (const module of modules) for (const name of module.imports) add(name, module.name);
  return uses;
}

async function unusedDigests(folder: string, entries: readonly LockedModule[]): Promise<readonly string[]> {
  const used = new Set(entries.map(({ sha256 }) => sha256));
  return (await storedDigests(folder)).filter((digest) => !used.has(digest));
}

export interface RemovedModules {
  /** Names, those included that only the removed modules imported. */
  readonly removed: readonly string[];
  /** Digests whose files were deleted. */
  readonly deleted: readonly string[];
}

/**
 * Takes modules out of the lock, then deletes their files; a kill between leaves files that `--unused` deletes. With `unused`, deletes all
 * files that the lock does not name, too. Throws UNKNOWN_MODULE, MODULE_IN_USE.
 */
export async function removeModules(project: Project, names: readonly string[], unused: 'delete' | 'keep'): Promise<RemovedModules> {
  const own = modulesOf(project);
  return whileOthersWait(own, () => removeFrom(own, names, unused));
}

async function removeFrom(own: ProjectModules, names: readonly string[], unused: 'delete' | 'keep'): Promise<RemovedModules> {
  const lock = await readLock(own);
  for (const name of names) if (!lock.modules.has(name)) throw unknownModule(name, lock);
  const left = new Map([...lock.modules].filter(([name]) => !names.includes(name)));
  const removed = [...names];
  for (let loose = looseIn(left); loose.length > 0; loose = looseIn(left)) {
    for (const name of loose) left.delete(name);
    removed.push(...loose);
  }
  for (const { name, imports = [] } of left.values()) {
    const needed = imports.find((each) => names.includes(each));
    if (needed !== undefined)
      throw new MlldError('MODULE_IN_USE', `${needed} can't be removed: ${name} imports it`, {
        hint: `mlld modules remove ${name} ${needed}`,
      });
  }
  const digests = removed.flatMap((name) => lock.modules.get(name)?.sha256 ?? []);
  const after = removed.length === 0 ? lock : await changeLock(own, { drop: removed });
  const loose = await unusedDigests(own.folder, [...after.modules.values()]);
  const deleted = unused === 'delete' ? loose : loose.filter((digest) => digests.includes(digest));
  for (const digest of deleted) await removeModule(own.folder, digest);
  return { removed, deleted };
}

/** Returns modules that were added for others, of which none is left. */
function looseIn(modules: ReadonlyMap<string, LockedModule>): readonly string[] {
  const imported = new Set([...modules.values()].flatMap(({ name, imports = [] }) => imports.filter((each) => each !== name)));
  return [...modules.values()].filter(({ name, transitive }) => transitive === true && !imported.has(name)).map(({ name }) => name);
}

export interface OutdatedModule {
  readonly name: string;
  readonly version: string | null;
  /** Is the version that its source has now; null where that is not known. */
  readonly latest: string | null;
  readonly state: 'current' | 'outdated' | 'unknown';
  /** Says why the state is not known. */
  readonly reason?: string;
}

/** Asks the source of each module. Fetches the modules that have no registry, and writes nothing. */
export async function outdatedModules(project: Project): Promise<readonly OutdatedModule[]> {
  const own = modulesOf(project);
  const lock = await readLock(own);
  const fetcher = createFetcher(own);
  const report: OutdatedModule[] = [];
  for (const entry of lock.modules.values()) {
    const { name, version = null } = entry;
    try {
      const now = await sourceNow(entry, own.root, fetcher);
      const isCurrent = now.sha256 === undefined ? now.version === version : now.sha256 === entry.sha256;
      report.push({ name, version, latest: now.version ?? (isCurrent ? version : null), state: isCurrent ? 'current' : 'outdated' });
    } catch (error) {
      if (!(error instanceof MlldError)) throw error;
      report.push({ name, version, latest: null, state: 'unknown', reason: error.message });
    }
  }
  return report;
}

async function sourceNow(entry: LockedModule, root: string, fetcher: Fetcher): Promise<{ sha256?: string; version?: string }> {
  if (entry.registry !== undefined) return fetcher.lookUp({ name: entry.name });
  const isAddress = /^https?:/i.test(entry.source);
  const { bytes, format, sha256 } = await (isAddress
    ? fetcher.fromAddress(entry.source)
    : fetcher.fromFile(path.resolve(root, entry.source)));
  const { version } = await describeModule(bytes, format, entry.source);
  return { sha256, ...(version !== undefined && { version }) };
}
