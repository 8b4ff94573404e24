/** Refuses a command about the store of a team where the runs are in files. */
import { storeUrl } from '../../../src/api/commands/store.js';
import type { Project } from '../../../src/api/commands/project.js';
import { MlldError } from '../../../src/errors.js';
import type { Io } from '../../terminal/io.js';

export function refuseFiles(io: Io, project: Project, command: string): void {
  if (storeUrl({ project, environment: io.environment }) !== undefined) return;
  throw new MlldError('USAGE', `${command}: the runs of this project are kept in files`, {
    hint: "MLLD_STORE='postgres://ada@db.example/mlld?project=acme/patrol' names a store",
  });
}
