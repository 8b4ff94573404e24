/** The published modules of a project: its lock, and the folder with their files. */
import path from 'node:path';
import { JournalError } from '../../../journal/errors.js';
import { realDisk } from '../../../journal/storage/disk.js';
import { acquireWorkflowLock } from '../../../journal/storage/workflow-lock.js';
import { MlldError } from '../../errors.js';
import { modulesFolderOf } from '../../modules/published/find-published.js';
import { EMPTY_LOCK, LOCK_FILE, lockText, parseLock, type Lock, type LockedModule } from '../../modules/published/lock.js';
import { closest } from '../../values/suggest.js';
import { readIfThere, writeWhole } from '../../world/modules/module-files.js';
import type { Project } from '../project.js';
import { PUBLIC_REGISTRY } from './registry-index.js';

export interface ProjectModules {
  readonly root: string;
  /** Absolute; holds a folder for each digest. */
  readonly folder: string;
  readonly registry: string;
}

export function modulesOf({ root, config }: Project): ProjectModules {
  const { folder, registry = PUBLIC_REGISTRY } = config.modules ?? {};
  return { root, folder: modulesFolderOf({ projectRoot: root, ...(folder !== undefined && { modulesFolder: folder }) }), registry };
}

/** Throws LOCK_INVALID. */
export async function readLock({ root }: Pick<ProjectModules, 'root'>): Promise<Lock> {
  const text = await onDisk(LOCK_FILE, () => readIfThere(path.join(root, LOCK_FILE)));
  return text === undefined ? EMPTY_LOCK : parseLock(text, LOCK_FILE);
}

/**
 * Lets one process at a time change the modules of a project, so that no command loses what another one adds, and none deletes a file
 * that another has written and not yet listed. A killed process holds nothing. Throws JOURNAL_BUSY after half a minute.
 */
export async function whileOthersWait<T>({ root }: Pick<ProjectModules, 'root'>, act: () => Promise<T>): Promise<T> {
  const folder = path.join(root, '.mlld', 'modules-lock');
  const other = 'is changing the modules of this project';
  const release = await onDisk(folder, () => acquireWorkflowLock(realDisk, folder, undefined, other));
  try {
    return await act();
  } finally {
    await release();
  }
}

/** Changes the lock as a whole, inside `whileOthersWait`. It is read again first, so that what another command has added is kept. */
export async function changeLock(
  { root }: Pick<ProjectModules, 'root'>,
  { put = [], drop = [] }: { readonly put?: readonly LockedModule[]; readonly drop?: readonly string[] },
): Promise<Lock> {
  const before = await readLock({ root });
  const dropped = new Set(drop);
  const modules = new Map([...before.modules].filter(([name]) => !dropped.has(name)));
  for (const module of put) modules.set(module.name, module);
  const text = lockText(before, modules, dropped);
  await onDisk(LOCK_FILE, () => writeWhole(path.join(root, LOCK_FILE), text));
  return parseLock(text, LOCK_FILE);
}

/** Throws MODULE_DISK, with the reason of the system, for a file that can't be read or written. */
export async function onDisk<T>(what: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    if (cause instanceof JournalError) throw cause;
    throw new MlldError('MODULE_DISK', `${what} can't be read or written: ${(cause as Error).message}`, {
      hint: 'make it a file in a folder that this user may write; nothing else was changed',
      cause,
    });
  }
}

export function unknownModule(name: string, { modules }: Lock): MlldError {
  const near = closest(name, modules.keys());
  return new MlldError('UNKNOWN_MODULE', `${name} is not in ${LOCK_FILE}`, {
    hint: near === undefined ? 'mlld modules list shows what there is' : `did you mean ${near}?`,
  });
}
