/** Reads what is recorded and works out what may be removed of it: runs first, then blobs that no remaining run names. */
import { startOf, type BlobId, type RunId, type RunRef, type Workflow } from '../../journal/ids.js';
import type { Defect, JournalStore, RunFile } from '../../journal/store.js';
import { lineage, type Lineage, type ForkPoint } from './lineage.js';
import { forEachDigest } from './blob-references.js';
import { decide, type Decision, type Folded, type RetentionRequest } from './retention.js';

export async function planCollection(store: JournalStore, request: RetentionRequest): Promise<Decision> {
  const workflows = [];
  for (const workflow of await store.workflows()) workflows.push(await foldWorkflow(store, workflow));
  const forked = await forkedPoints(store, workflows);
  return decide(workflows, request, { startOf, forkedAt: (point) => forked.get(nameOf(point)) });
}

async function foldWorkflow(store: JournalStore, workflow: Workflow): Promise<Folded> {
  const files = await store.runs(workflow);
  const damaged = new Set<RunId>();
  const newer = new Set<RunId>();
  const onDefect = (defect: Defect): void => {
    if (defect.kind === 'unknown-version') newer.add(defect.run.run);
    else if (defect.kind !== 'torn-tail') damaged.add(defect.run.run);
  };
  return { workflow, files, damaged, newer, lineage: await foldRuns(store, files, onDefect) };
}

async function foldRuns(
  store: JournalStore,
  files: readonly RunFile[],
  onDefect: (defect: Defect) => void,
  end?: ForkPoint,
): Promise<Lineage> {
  const state = lineage.initial();
  for (const { ref } of files) {
    const last = ref.run === end?.run ? end.seq : undefined;
    await store.scan(
      ref,
      (event, position) => {
        if (last === undefined || event.seq <= last) lineage.apply(state, event, { ref, position });
      },
      { onDefect },
    );
  }
  return state;
}

const nameOf = ({ run, seq }: ForkPoint): string => `${run}:${seq ?? ''}`;

async function forkedPoints(store: JournalStore, workflows: readonly Folded[]): Promise<Map<string, Lineage>> {
  const found = new Map<string, Lineage>();
  const points = workflows.flatMap(({ lineage: { runs } }) => [...runs.values()].flatMap(({ forkedFrom }) => forkedFrom));
  for (const point of points) {
    if (found.has(nameOf(point))) continue;
    const files = await store.runs(point.workflow);
    const earlier = files.filter(({ ref }) => ref.run <= point.run);
    found.set(nameOf(point), await foldRuns(store, earlier, () => undefined, point));
  }
  return found;
}

/** Those of the blobs that no run names but the ones that go; none when a run that stays can't be read in full. */
export async function unreferencedBlobs(
  store: JournalStore,
  blobs: readonly BlobId[],
  going: readonly RunRef[],
): Promise<UnreferencedBlobs> {
  const unnamed = new Set(blobs);
  const gone = new Set(going.map(({ run }) => run));
  const seen: RunId[] = [];
  let damage: Defect | undefined;
  for (const workflow of await store.workflows()) {
    for (const { ref } of await store.runs(workflow)) {
      if (gone.has(ref.run)) continue;
      seen.push(ref.run);
      await store.scan(ref, (event) => forEachDigest(event, (digest) => unnamed.delete(digest)), {
        onDefect: (defect) => {
          if (defect.kind !== 'torn-tail') damage ??= defect;
        },
      });
    }
  }
  return { blobs: damage === undefined ? [...unnamed] : [], seen, damage };
}

export interface UnreferencedBlobs {
  readonly blobs: readonly BlobId[];
  /** The runs that were looked at. */
  readonly seen: readonly RunId[];
  /** The reason for which no blob is listed: an event that can't be read may name any of them. */
  readonly damage: Defect | undefined;
}

/** Returns whether a run is in flight, or has begun since `seen` was read. */
export async function hasNewcomers(store: JournalStore, seen: readonly RunId[]): Promise<boolean> {
  const known = new Set(seen);
  for (const workflow of await store.workflows()) {
    for (const { ref, liveness } of await store.runs(workflow)) if (liveness === 'running' || !known.has(ref.run)) return true;
  }
  return false;
}
