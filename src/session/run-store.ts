/** Opens the store of a run, and leaves it when the run has ended: a program may make thousands of runs, one after the other. */
import type { JournalStore } from '../../journal/store.js';
import type { World } from '../world/world.js';
import { openRecordingStore } from './project-store.js';
import { sealingKeyFor } from './ports/sealing-key.js';
import type { RunOptions } from './script/run-options.js';

/** More than one where a plan has child pipelines. */
const opened = new WeakMap<World, JournalStore[]>();

/** Returns the store that the options bring along, which stays open; else that of the project. Throws as `openRecordingStore`. */
export async function openRunStore(
  { project, environment, io, openStore }: Pick<RunOptions, 'project' | 'environment' | 'io' | 'openStore'>,
  world: World,
): Promise<JournalStore> {
  const sealingKey = await sealingKeyFor({ project, environment }, world);
  if (openStore) return openStore(sealingKey);
  const store = await openRecordingStore({ project, environment, sealingKey, stderr: io.stderr });
  opened.set(world, [...(opened.get(world) ?? []), store]);
  return store;
}

/** Closes the world, and leaves the store that was opened for it. Does not wait for the server's goodbye, which would cost a round trip. */
export async function closeWorld(world: World, reason: string): Promise<void> {
  await world.close(reason);
  for (const store of opened.get(world) ?? []) void store.close?.();
}
