/** Finds the file of a published module by `mlld-lock.json`. Nothing is fetched. world.md 11.7. */
import path from 'node:path';
import { MlldError } from '../../errors.js';
import { performEffect } from '../../operation/perform-effect.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import type { Settings } from '../../runtime/settings.js';
import { displayPath } from '../../language/paths.js';
import { EMPTY_LOCK, LOCK_FILE, MODULES_FOLDER, parseLock, storedPath, type Lock, type LockedModule } from './lock.js';
import { parseModuleName, satisfies, type ModuleName } from './module-name.js';

export interface PublishedFile {
  readonly absolute: string;
  readonly module: LockedModule;
}

/** Returns undefined for a name that no module can have. Throws MODULE_NOT_ADDED, MODULE_VERSION, LOCK_INVALID. */
export async function findPublished(written: string, at: number, frame: Frame): Promise<PublishedFile | undefined> {
  const wanted = parseModuleName(written);
  if (!wanted) return undefined;
  const problem = problemWith(wanted, await readLock(frame));
  if ('module' in problem) return fileOf(problem.module, frame.run.settings);
  const { code, message, hint } = problem;
  throw new MlldError(code, message, { location: locationOf(frame.module, at), hint });
}

/** Returns the module that was fetched from this address; undefined where there is none. */
export async function findByAddress(address: string, frame: Frame): Promise<PublishedFile | undefined> {
  const { modules } = await readLock(frame);
  const module = [...modules.values()].find(({ source }) => source === address);
  return module && fileOf(module, frame.run.settings);
}

export interface ModuleProblem {
  readonly code: 'MODULE_NOT_ADDED' | 'MODULE_VERSION';
  readonly message: string;
  readonly hint: string;
}

/** Returns the locked module that an import means, or why there is none. */
export function problemWith(
  { name, wanted }: ModuleName,
  { modules }: Pick<Lock, 'modules'>,
): { readonly module: LockedModule } | ModuleProblem {
  const module = modules.get(name);
  if (!module) return notAdded(name);
  if (satisfies(module.version, wanted)) return { module };
  return {
    code: 'MODULE_VERSION',
    message: `${name} has the version ${module.version ?? '(none)'}, and the import asks for ${wanted ?? ''}`,
    hint: `import ${name} without a version, or add another one: mlld modules add ${name}@${wanted ?? ''}`,
  };
}

function notAdded(name: string): ModuleProblem {
  return {
    code: 'MODULE_NOT_ADDED',
    message: `The module ${name} is not in ${LOCK_FILE}, and a run fetches nothing`,
    hint: `mlld modules add ${name}   (or mlld modules add FILE --as ${name})`,
  };
}

/** Is the hint for a file that is missing though the lock has it. */
export const RESTORE_HINT = 'mlld modules add   (without a name it fetches what mlld-lock.json lists and is missing)';

export function changedModule(name: string, file: string): Pick<ModuleProblem, 'message' | 'hint'> {
  return {
    message: `The module ${name} is not what ${LOCK_FILE} says: the sha256 of ${file} differs`,
    hint: `delete the file and restore it with mlld modules add, or accept a new version with mlld modules add ${name}`,
  };
}

export function modulesFolderOf({ projectRoot, modulesFolder }: Pick<Settings, 'projectRoot' | 'modulesFolder'>): string {
  return modulesFolder ?? path.join(projectRoot, MODULES_FOLDER);
}

function fileOf(module: LockedModule, settings: Settings): PublishedFile {
  return { absolute: storedPath(modulesFolderOf(settings), module), module };
}

/** Reads it at each import: a run has few, and a replay finds the text with the operation that read it. */
async function readLock(frame: Frame): Promise<Lock> {
  const { settings } = frame.run;
  const file = path.join(settings.projectRoot, LOCK_FILE);
  const read = await performEffect(frame, 'file.read', { path: file });
  return 'text' in read ? parseLock(read.text, displayPath(file, settings)) : EMPTY_LOCK;
}
