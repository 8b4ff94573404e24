/** Opens what the runs of a project are kept in, for a program. */
import path from 'node:path';
import { openFileStore as openStore, type FileStoreOptions } from '../../journal/storage/file-store.js';
import type { JournalStore } from '../../journal/store.js';
import { MlldError } from '../errors.js';
import { isProjectRoot, type Project } from '../session/project.js';
import { openProjectStore as openStoreOf } from '../session/project-store.js';
import { sealingKeyFor } from '../session/ports/sealing-key.js';
import { hostDefaults } from '../world/host-defaults.js';
import { createLiveWorld } from '../world/live.js';
import { badOption, checkMembers, type Members } from './check.js';

/**
 * Opens the journal in a project's folder. Opening does no work; runs are created below `.mlld/journal`. Throws BAD_OPTION, and NO_PROJECT
 * for other folders: a journal there would hold runs that no command finds.
 *
 * ```js
 * const store = openFileStore((await findProject('.')).root);
 * ```
 */
export function openFileStore(root: string, options: FileStoreOptions = {}): JournalStore {
  if (typeof root !== 'string' || root === '') {
    throw badOption('openFileStore()', 'the folder is missing', 'openFileStore((await findProject(folder)).root)');
  }
  const folder = path.resolve(root);
  if (!isProjectRoot(folder)) {
    throw new MlldError(
      'NO_PROJECT',
      `${folder} is not a project: it has neither mlld-config.json nor another mark of one, and no journal`,
      {
        hint: "name the project's own folder, or put a mlld-config.json with {} into it",
      },
    );
  }
  return openStore(folder, options);
}

export interface ProjectStoreOptions {
  /** Read for `MLLD_STORE`, the key of sealed results and the like; that of the process by default. */
  readonly environment?: { readonly [name: string]: string | undefined };
  /** Called with lines about the store; they are written to standard error by default. */
  readonly onWarning?: (line: string) => void;
}

const OPTIONS: Members<ProjectStoreOptions> = { environment: 'object', onWarning: 'function' };

/**
 * Opens the store that the runs of a project are kept in: that of its team where `MLLD_STORE` or `mlld-config.json` names one, else its
 * files. Connections are opened when they are needed, and stay until `close`. Throws BAD_OPTION and the errors of a store's address.
 *
 * ```js
 * const store = await openProjectStore(await findProject('.'));
 * for (const workflow of await store.workflows()) console.log(workflow, (await store.runs(workflow)).length);
 * await store.close?.();
 * ```
 */
export async function openProjectStore(project: Project, options: ProjectStoreOptions = {}): Promise<JournalStore> {
  if (typeof (project as Partial<Project> | undefined)?.root !== 'string')
    throw badOption('openProjectStore()', 'the project is missing', 'openProjectStore(await findProject(folder))');
  checkMembers('openProjectStore()', options, OPTIONS);
  const { environment = hostDefaults().environment, onWarning = hostDefaults().io.stderr } = options;
  const none = (): void => undefined;
  const world = createLiveWorld({ environment: {}, stdin: async () => undefined, stdout: none, stderr: none });
  const sealingKey = await sealingKeyFor({ environment, project }, world);
  await world.close('the key was read');
  return openStoreOf({ project, environment, sealingKey, stderr: onWarning });
}
