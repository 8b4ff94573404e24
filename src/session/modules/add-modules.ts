/**
 * Adds published modules to a project: `mlld modules add`. None of their code runs.
 *
 * ADD-1 Everything is fetched and parsed before anything is written; a failure leaves the project as it was.
 * ADD-2 Files are written first, then the lock. A kill between leaves files that no lock names: they are harmless, and
 *       `remove --unused` deletes them.
 * ADD-3 A module that is in the lock already is changed only where the user names it, not because another one imports it.
 */
import path from 'node:path';
import { MlldError } from '../../errors.js';
import { LOCK_FILE, storedName, type Lock, type LockedModule } from '../../modules/published/lock.js';
import { parseModuleName, satisfies } from '../../modules/published/module-name.js';
import { resolvePrefix } from '../../world/files/resolver-prefix.js';
import { stateOf, writeModule } from '../../world/modules/module-files.js';
import type { Project } from '../project.js';
import { describeModule } from './describe-module.js';
import { createFetcher, type FetchedModule, type Fetcher } from './fetch-module.js';
import { changeLock, modulesOf, onDisk, readLock, whileOthersWait, type ProjectModules } from './project-modules.js';

/** Names a module of the registry, an address, or a file by its absolute path. */
export type AddTarget =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'file'; readonly absolute: string };

export interface AddRequest {
  readonly targets: readonly AddTarget[];
  /** The name to add the only target under, instead of that in its frontmatter. */
  readonly as?: string;
}

export interface AddedModule {
  readonly name: string;
  readonly version: string | null;
  readonly sha256: string;
  readonly source: string;
  /** `restored`: the lock had it, and its file was missing or changed. */
  readonly change: 'added' | 'updated' | 'unchanged' | 'restored';
  /** The version before, of an updated module. */
  readonly before?: string | null;
  /** The module that imports it; absent for one that was named. */
  readonly importedBy?: string;
}

/** Modules that one command adds, those included that the named ones import. */
const MODULES_MAX = 200;

/** Throws the errors of fetching and parsing, and writes nothing then (ADD-1). */
export async function addModules(project: Project, { targets, as }: AddRequest): Promise<readonly AddedModule[]> {
  const modules = modulesOf(project);
  const lock = await readLock(modules);
  const fetcher = createFetcher(modules);
  if (as !== undefined && targets.length !== 1)
    throw new MlldError('USAGE', '--as names one module, so it takes one address or file', {
      hint: 'add the others with a command of their own',
    });
  if (targets.length === 0) return whileOthersWait(modules, () => restore(project, lock, fetcher));

  const fetched = new Map<string, Addition>();
  const waiting: Wanted[] = targets.map((target) => ({ target }));
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    if (next.target.kind === 'name' && isKnown(next.target.name, next.importedBy, lock, fetched)) continue;
    const addition = await additionOf(next, as, fetcher);
    const { entry } = addition;
    const twice = fetched.get(entry.name);
    if (twice && twice.entry.sha256 !== entry.sha256)
      throw new MlldError('MODULE_TWICE', `Two sources have the name ${entry.name}: ${twice.entry.source} and ${entry.source}`, {
        hint: `add one of them with a command of its own: mlld modules add ${entry.source} --as @author/name`,
      });
    if (twice) continue;
    fetched.set(entry.name, addition);
    if (fetched.size > MODULES_MAX)
      throw new MlldError('TOO_MANY_MODULES', `More than ${MODULES_MAX} modules would be added`, { hint: 'add them in several commands' });
    for (const written of addition.imports) {
      if (resolvePrefix(written, project.config.prefixes)) continue; // a folder of this project
      waiting.push({ target: { kind: 'name', name: written }, importedBy: entry.name });
    }
  }

  return whileOthersWait(modules, () => keep(modules, [...fetched.values()]));
}

/** Compares with the lock as it is now: another command may have changed it while this one was fetching. */
async function keep(modules: ProjectModules, additions: readonly Addition[]): Promise<readonly AddedModule[]> {
  const lock = await readLock(modules);
  const report: AddedModule[] = [];
  for (const { entry, importedBy } of additions) {
    const state = await stateOf(modules.folder, entry.sha256, storedName(entry));
    report.push(reported(entry, lock.modules.get(entry.name), state === 'verified', importedBy));
  }
  for (const { entry, bytes } of additions) await write(modules, entry, bytes);
  await changeLock(modules, { put: additions.map(({ entry }) => entry) });
  return report;
}

interface Wanted {
  readonly target: AddTarget;
  readonly importedBy?: string;
}

interface Addition {
  readonly entry: LockedModule;
  readonly bytes: Uint8Array;
  /** Names with versions, as they are written. */
  readonly imports: readonly string[];
  readonly importedBy: string | undefined;
}

/** True for a module that another one imports, and that is there in a version which fits (ADD-3). */
function isKnown(written: string, importedBy: string | undefined, lock: Lock, fetched: ReadonlyMap<string, Addition>): boolean {
  const wanted = parseModuleName(written);
  if (importedBy === undefined || !wanted) return false;
  const known = fetched.get(wanted.name)?.entry ?? lock.modules.get(wanted.name);
  if (!known) return false;
  if (satisfies(known.version, wanted.wanted)) return true;
  throw new MlldError(
    'MODULE_VERSION',
    `${importedBy} imports ${written}, and ${known.name} has the version ${known.version ?? '(none)'}`,
    {
      hint: `a project has one version of a module: mlld modules add ${written}, if its importers take that`,
    },
  );
}

async function additionOf({ target, importedBy }: Wanted, as: string | undefined, fetcher: Fetcher): Promise<Addition> {
  const module = await fetchTarget(target, importedBy, fetcher);
  const described = await describeModule(module.bytes, module.format, module.source);
  const name = nameFor(target, as, described.name, module.source);
  const version = module.version ?? described.version;
  const imports = [...new Set(described.imports.map((written) => parseModuleName(written)?.name ?? written))].sort();
  const entry: LockedModule = {
    name,
    ...(version !== undefined && { version }),
    sha256: module.sha256,
    format: module.format,
    source: module.source,
    ...(module.registry !== undefined && { registry: module.registry }),
    ...(imports.length > 0 && { imports }),
    ...(importedBy !== undefined && { transitive: true }),
  };
  return { entry, bytes: module.bytes, imports: described.imports, importedBy };
}

async function fetchTarget(target: AddTarget, importedBy: string | undefined, fetcher: Fetcher): Promise<FetchedModule> {
  switch (target.kind) {
    case 'address':
      return fetcher.fromAddress(target.address);
    case 'file':
      return fetcher.fromFile(target.absolute);
    case 'name': {
      const name = parseModuleName(target.name);
      if (!name) throw badName(target.name);
      try {
        return await fetcher.fromRegistry(name);
      } catch (error) {
        if (!(error instanceof MlldError) || importedBy === undefined) throw error;
        const { code, message, hint } = error;
        throw new MlldError(code, `${message} (${importedBy} imports it)`, { hint, cause: error });
      }
    }
  }
}

function nameFor(target: AddTarget, as: string | undefined, own: string | undefined, source: string): string {
  if (as !== undefined) {
    const name = parseModuleName(as);
    if (!name || name.wanted !== undefined) throw badName(as);
    return name.name;
  }
  const named = target.kind === 'name' ? parseModuleName(target.name)?.name : own;
  if (named !== undefined) return named;
  throw new MlldError('MODULE_UNNAMED', `${source} has no \`author\` and \`name\` in its frontmatter`, {
    hint: `say how it is imported: mlld modules add ${source} --as @author/name`,
  });
}

function badName(name: string): MlldError {
  return new MlldError('MODULE_NAME', `${name} is not the name of a module`, {
    hint: 'write @author/name: letters, digits, _ and -, in the name also dots; with a version @author/name@1.2.0',
  });
}

/** Fetches what the lock lists and is not there, and refuses another content. */
async function restore(project: Project, lock: Lock, fetcher: Fetcher): Promise<readonly AddedModule[]> {
  const modules = modulesOf(project);
  const report: AddedModule[] = [];
  for (const entry of lock.modules.values()) {
    if ((await stateOf(modules.folder, entry.sha256, storedName(entry))) === 'verified') {
      report.push(reported(entry, entry, true, undefined));
      continue;
    }
    const isAddress = /^https?:/i.test(entry.source);
    const { bytes, sha256 } = await (isAddress
      ? fetcher.fromAddress(entry.source)
      : fetcher.fromFile(path.resolve(modules.root, entry.source)));
    if (sha256 !== entry.sha256) {
      throw new MlldError('MODULE_CHANGED', `${entry.name} can't be restored: ${entry.source} is not what ${LOCK_FILE} says any more`, {
        hint: `accept what it is now: mlld modules add ${entry.registry === undefined ? `${entry.source} --as ` : ''}${entry.name}`,
      });
    }
    await write(modules, entry, bytes);
    report.push(reported(entry, entry, false, undefined));
  }
  return report;
}

async function write({ folder }: ProjectModules, entry: LockedModule, bytes: Uint8Array): Promise<void> {
  await onDisk(`The file of ${entry.name}`, () => writeModule(folder, entry.sha256, storedName(entry), bytes));
}

function reported(entry: LockedModule, before: LockedModule | undefined, isThere: boolean, importedBy: string | undefined): AddedModule {
  const isSame = before?.sha256 === entry.sha256;
  const change = before === undefined ? 'added' : !isSame ? 'updated' : isThere ? 'unchanged' : 'restored';
  return {
    name: entry.name,
    version: entry.version ?? null,
    sha256: entry.sha256,
    source: entry.source,
    change,
    ...(change === 'updated' && { before: before?.version ?? null }),
    ...(importedBy !== undefined && { importedBy }),
  };
}
