/**
 * Named outputs that are too large for the context. Each is in the journal; large ones are files for people too. graph-pipelines.md 8.4.
 *
 * A1 The journal says what there is, and holds every payload. A kill between a file and its event leaves a file that nothing names, or a
 *    removed artifact whose file is still there: the next one of that id replaces it.
 */
import type { Json } from '../../../journal/event.js';
import type { OpPath } from '../../../journal/ids.js';
import { concealed } from '../../runtime/secret-registry.js';
import type { PipelineRuntime } from '../walk/pipeline-runtime.js';
import { StageError } from '../model/outcome.js';
import type { ArtifactView } from './state-view.js';

/** Above this an output doesn't stay in the context, and its artifact is a file. */
export const INLINE_BYTES_MAX = 102_400;

/** Ids are file names. */
const ID = /^\w[\w.#-]{0,199}$/;

export interface ArtifactEntry {
  readonly id: string;
  readonly name: string;
  readonly size_bytes: number;
  /** ISO 8601, UTC. */
  readonly stored_at: string;
  readonly is_file_backed: boolean;
}

/** Of the whole run; what is stored and removed is recorded as done by one stage. */
export interface Artifacts {
  /** Replaces an earlier one. Throws a permanent `StageError` for an id other than letters, digits, `_ . # -`. */
  store(id: string, name: string, data: Json): Promise<void>;
  /** Throws a permanent `StageError` for an unknown id, and when the journal can't be read there any more. */
  retrieve(id: string): Promise<Json>;
  has(id: string): boolean;
  /** In the order in which they were first stored. */
  list(): readonly ArtifactEntry[];
  /** Throws a permanent `StageError` for an unknown id. */
  remove(id: string): Promise<void>;
  /** Removes all. */
  clear(): Promise<void>;
}

export function artifactsOf(run: PipelineRuntime, { op, node }: { readonly op: OpPath; readonly node: string }): Artifacts {
  const { ledger, folder } = run;
  const { world, cache: answers } = run.frame.run;
  const known = (id: string): ArtifactView => {
    const found = ledger.state.artifacts.get(id);
    if (found) return found;
    throw new StageError('permanent', `there is no artifact ${id}`);
  };
  const remove = async (id: string): Promise<void> => {
    const { fileBacked } = known(id);
    await ledger.append({ type: 'artifact.removed', op, id });
    if (fileBacked) await world.perform('file.remove', { path: folder.artifactFile(id) });
  };
  return {
    async store(id, name, made) {
      if (!ID.test(id)) throw new StageError('permanent', `"${id}" can't be the id of an artifact: letters, digits, _ . # and - can`);
      const data = concealed(made, run.secretSettings);
      const sizeBytes = Buffer.byteLength(typeof data === 'string' ? data : JSON.stringify(data));
      const fileBacked = sizeBytes > INLINE_BYTES_MAX;
      const payload = await answers.payload(data);
      if (fileBacked) await world.perform('file.write', { path: folder.artifactFile(id), text: `${JSON.stringify(data)}\n` });
      ledger.post({ type: 'artifact.stored', op, id, name, node, sizeBytes, fileBacked, payload });
    },
    async retrieve(id) {
      known(id);
      const data = await run.readArtifact(id);
      if (data === undefined) throw new StageError('permanent', `the artifact ${id} can't be read any more`);
      return data;
    },
    has: (id) => ledger.state.artifacts.has(id),
    list: () => [...ledger.state.artifacts.values()].map(entryOf),
    remove,
    async clear() {
      for (const id of ledger.state.artifacts.keys()) await remove(id); // a map may lose entries while it is walked
    },
  };
}

function entryOf({ id, name, sizeBytes, storedAt, fileBacked }: ArtifactView): ArtifactEntry {
  return { id, name, size_bytes: sizeBytes, stored_at: storedAt, is_file_backed: fileBacked };
}
