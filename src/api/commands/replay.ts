/** Runs a recorded run again, from the journal or from a saved test, and shows its variables: `mlld journal replay`. */
import type { JournalStore } from '../../../journal/store.js';
import { openProjectStore } from '../../session/project-store.js';
import { sealingKeyFor } from '../../session/ports/sealing-key.js';
import type { Project } from '../../session/project.js';
import { createLiveWorld } from '../../world/live.js';

export { replayRun } from '../../session/rerun/replay.js';
export type { Divergence } from '../../session/rerun/divergence.js';
export type { ReplayOptions, ReplayReport, StopPoint } from '../../session/rerun/replay-options.js';
export { openTest, saveTest, type SavedTest } from '../../session/rerun/saved-test.js';
export { toJson } from '../../values/native.js';
export { indentedJson, showText } from '../../values/show.js';
export { dataOf, type Value } from '../../values/value.js';

/** Opens the store with the project's key, so that sealed results can be read. */
export async function openStoreWithKey(
  project: Project,
  environment: { readonly [name: string]: string | undefined },
): Promise<JournalStore> {
  const quiet = (): void => undefined;
  const world = createLiveWorld({ environment: {}, stdin: async () => undefined, stdout: quiet, stderr: quiet });
  return openProjectStore({ project, environment, sealingKey: await sealingKeyFor({ environment, project }, world), stderr: quiet });
}
