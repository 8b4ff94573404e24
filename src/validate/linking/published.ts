/** Finds published modules by the lock of the project, as a run does, but without one. world.md 11.7. */
import path from 'node:path';
import { sha256 } from '../../../journal/canonical.js';
import { MlldError } from '../../errors.js';
import { changedModule, modulesFolderOf, problemWith, RESTORE_HINT } from '../../modules/published/find-published.js';
import { EMPTY_LOCK, LOCK_FILE, parseLock, storedPath, type Lock, type LockedModule } from '../../modules/published/lock.js';
import { parseModuleName } from '../../modules/published/module-name.js';
import type { Workspace } from './workspace.js';

export type StaticModule =
  | { readonly absolute: string }
  /** `unsure`: a run may be given the module by `--inject`. */
  | { readonly message: string; readonly hint?: string; readonly unsure?: true };

/** Looks up what an import names, an address included; undefined for what is no module's name. Reads the lock at each call. */
export async function publishedModule(written: string, workspace: Workspace): Promise<StaticModule | undefined> {
  const isAddress = /^https?:\/\//i.test(written);
  const wanted = parseModuleName(written);
  if (!isAddress && !wanted) return undefined;
  if (workspace.injected?.has(written)) return undefined;
  let lock: Lock;
  try {
    lock = await lockOf(workspace);
  } catch (error) {
    if (!(error instanceof MlldError)) throw error;
    return { message: error.message, ...(error.hint !== undefined && { hint: error.hint }) };
  }
  if (!wanted) {
    const module = [...lock.modules.values()].find(({ source }) => source === written);
    if (module) return checked(module, workspace);
    return { message: `${written} is an address, and a run fetches nothing`, hint: `mlld modules add ${written}` };
  }
  const found = problemWith(wanted, lock);
  if ('module' in found) return checked(found.module, workspace);
  const { code, message, hint } = found;
  return { message, hint, ...(code === 'MODULE_NOT_ADDED' && { unsure: true }) };
}

async function lockOf({ files, projectRoot, display }: Workspace): Promise<Lock> {
  const file = path.join(projectRoot, LOCK_FILE);
  const text = await files.readText(file);
  return text === undefined ? EMPTY_LOCK : parseLock(text, display(file));
}

async function checked(module: LockedModule, { files, projectRoot, modulesFolder, display }: Workspace): Promise<StaticModule> {
  const folder = modulesFolderOf({ projectRoot, ...(modulesFolder !== undefined && { modulesFolder }) });
  const absolute = storedPath(folder, module);
  const text = await files.readText(absolute);
  if (text === undefined) return { message: `The file of the module ${module.name} is missing: ${display(absolute)}`, hint: RESTORE_HINT };
  return sha256(text) === `sha256:${module.sha256}` ? { absolute } : changedModule(module.name, display(absolute));
}
