/** Runs a recorded run again, from the journal or from a saved test, and shows its variables: `mlld journal replay`. */
import type { JournalStore } from '../../../journal/store.js';
import type { Project } from '../../session/project.js';
import { openProjectStore } from '../open-store.js';

export { recordedFile } from '../../session/project.js';
export { replayRun } from '../../session/rerun/replay.js';
export type { Divergence } from '../../session/rerun/divergence.js';
export type { ReplayOptions, ReplayReport, StopPoint } from '../../session/rerun/replay-options.js';
export { openTest, saveTest, type SavedTest } from '../../session/rerun/saved-test.js';
export { toJson } from '../../values/native.js';
export { indentedJson, showText } from '../../values/show.js';
export { dataOf, type Value } from '../../values/value.js';

/** Opens the store with the project's key, so that sealed results can be read. */
export function openStoreWithKey(project: Project, environment: { readonly [name: string]: string | undefined }): Promise<JournalStore> {
  return openProjectStore(project, { environment, onWarning: () => undefined });
}
