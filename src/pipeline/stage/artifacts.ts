/**
 * Keeps named outputs that are too large for the context: in the journal and, where they are large, also as files for people.
 * graph-pipelines.md 8.4.
 *
 * ARTIFACT-1 The journal decides which artifacts exist, and holds every payload. A kill between a file and its event leaves a file without
 *            an artifact; the next artifact with that id replaces it.
 */
import { sha256Hex } from '../../../journal/sha256.js';
import type { Json } from '../../../journal/event.js';
import type { OpPath } from '../../../journal/ids.js';
import { concealed, type SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import type { Frame } from '../../runtime/frame.js';
import { StageError } from '../model/outcome.js';
import type { Ledger } from './state-ledger.js';
import type { RunFolder } from './run-folder.js';
import type { ArtifactView } from './state-view.js';

/** A larger output is not kept in the context, and its artifact is also a file. */
export const INLINE_BYTES_MAX = 102_400;

/** Ids serve as file names. */
const ID = /^\w[\w.#-]{0,199}$/;

export interface ArtifactEntry {
  readonly id: string;
  readonly name: string;
  readonly size_bytes: number;
  /** ISO 8601, UTC. */
  readonly stored_at: string;
  readonly is_file_backed: boolean;
}

/** The artifacts of the whole run, as one stage sees them: what it stores or removes is recorded under its name. */
export interface Artifacts {
  /**
   * Replaces an artifact of the same id. Throws a permanent `StageError` when the id has other characters than letters, digits, `_ . # -`.
   */
  store(id: string, name: string, data: Json): Promise<void>;
  /** Throws a permanent `StageError` for an unknown id, and when the journal no longer holds the payload. */
  retrieve(id: string): Promise<Json>;
  has(id: string): boolean;
  /** Lists them in the order in which they were first stored. */
  list(): readonly ArtifactEntry[];
  /** Throws a permanent `StageError` for an unknown id. */
  remove(id: string): Promise<void>;
  /** Removes all artifacts. */
  clear(): Promise<void>;
}

interface Storing {
  readonly run: { readonly recordedOutputId?: (nodeOp: OpPath, name: string) => string | undefined };
  readonly nodeOp: OpPath;
  readonly node: { readonly id: string };
  readonly visit: number;
}

/**
 * Returns the id of an output that a stage stores by itself: `plan.0.response`, in a branch `fork.0.1.plan.0.response`. Every branch counts
 * the visits of its nodes from 0, so that without the branch one would replace the output of another.
 */
export function outputId({ run, nodeOp, node, visit }: Storing, name: string): string {
  const recorded = run.recordedOutputId?.(nodeOp, name);
  if (recorded !== undefined) return recorded;
  const place = nodeOp.replace(/^main\//, '').replaceAll(/\]\/|[#[/]/g, '.');
  const id = `${place}.${name}`;
  return ID.test(id) ? id : `${node.id}.${visit}.${sha256Hex(nodeOp).slice(0, 16)}.${name}`;
}

interface ArtifactPorts {
  readonly frame: Frame;
  readonly ledger: Ledger;
  readonly folder: RunFolder;
  readonly secretSettings: SecretRegistry;
  readonly readArtifact: (id: string) => Promise<Json | undefined>;
}

export function artifactsOf(run: ArtifactPorts, { op, node }: { readonly op: OpPath; readonly node: string }): Artifacts {
  const { ledger, folder } = run;
  const { world, cache } = run.frame.run;
  const known = (id: string): ArtifactView => {
    const found = ledger.state.artifacts.get(id);
    if (found) return found;
    throw new StageError('permanent', `there is no artifact ${id}; artifacts.list() names those that exist`);
  };
  const remove = async (id: string): Promise<void> => {
    const { fileBacked } = known(id);
    await ledger.append({ type: 'artifact.removed', op, id });
    if (fileBacked) await world.perform('file.remove', { path: folder.artifactFile(id) });
  };
  return {
    async store(id, name, output) {
      if (!ID.test(id)) throw new StageError('permanent', `"${id}" can't be the id of an artifact: use letters, digits, _ . # and -`);
      const data = concealed(output, run.secretSettings);
      const sizeBytes = Buffer.byteLength(typeof data === 'string' ? data : JSON.stringify(data));
      const fileBacked = sizeBytes > INLINE_BYTES_MAX;
      const payload = await cache.payload(data);
      if (fileBacked) await world.perform('file.write', { path: folder.artifactFile(id), text: `${JSON.stringify(data)}\n` });
      ledger.post({ type: 'artifact.stored', op, id, name, node, sizeBytes, fileBacked, payload });
    },
    async retrieve(id) {
      known(id);
      const data = await run.readArtifact(id);
      if (data === undefined)
        throw new StageError('permanent', `the artifact ${id} can no longer be read: its payload is missing from the journal`);
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
