/** Says for the page of a fork what it reused of each fork source, and in which lines its own script differs from that of the source. */
import type { ForkRef } from '../../../journal/facts/run-event.js';
import type { RunId, RunRef } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { foldRun } from '../../fold/fold-run.js';
import { textDiff, type DiffLines } from '../diff/text-diff.js';
import { callsOf, type Timeline } from '../timeline/timeline.js';
import { runFacts, type RunFacts } from './run-facts.js';

export interface PageFork {
  readonly workflow: string;
  /** The run that the fork names, or else the one with the most results that were reused, or the latest; null where there is none. */
  readonly run: string | null;
  /** Calls that reused a result of it. */
  readonly reused: number;
  /** The runs that these results are from. */
  readonly runs: number;
  /** The lines in which the scripts differ; null where the journal does not have both texts any more. */
  readonly script: DiffLines | null;
}

/** A run records its script before its first statement. */
const EVENTS_BEFORE_SCRIPT = 1000;

export async function forkSources(
  store: JournalStore,
  { workflow, run }: RunRef,
  facts: RunFacts,
  spans: Timeline,
): Promise<readonly PageFork[]> {
  const forks: PageFork[] = [];
  for (const fork of facts.started?.forks ?? []) {
    const reusedOf = reusedByRun(spans, fork);
    const source = fork.run ?? mostReused(reusedOf) ?? (await latestBefore(store, fork, run));
    forks.push({
      workflow: fork.workflow,
      run: source ?? null,
      reused: [...reusedOf.values()].reduce((sum, count) => sum + count, 0),
      runs: reusedOf.size,
      script: source === undefined ? null : await scriptDifference(store, { workflow: fork.workflow, run: source }, facts, workflow),
    });
  }
  return forks;
}

function reusedByRun(spans: Timeline, fork: ForkRef): ReadonlyMap<RunId, number> {
  const counts = new Map<RunId, number>();
  for (const { call } of callsOf(spans)) {
    const { from, worker } = call;
    if (from?.workflow !== fork.workflow || worker !== undefined) continue;
    if (fork.run === undefined || from.run === fork.run) counts.set(from.run, (counts.get(from.run) ?? 0) + 1);
  }
  return counts;
}

function mostReused(counts: ReadonlyMap<RunId, number>): RunId | undefined {
  return [...counts].sort(([, left], [, right]) => right - left)[0]?.[0];
}

async function latestBefore(store: JournalStore, { workflow }: ForkRef, run: RunId): Promise<RunId | undefined> {
  const runs = await store.runs(workflow);
  const earlier = runs.map(({ ref }) => ref.run).filter((each) => each < run);
  return earlier.sort().at(-1);
}

async function scriptDifference(
  store: JournalStore,
  source: RunRef,
  { sources }: RunFacts,
  workflow: RunRef['workflow'],
): Promise<DiffLines | null> {
  if ((await store.find(source.run)) === undefined) return null;
  // Damage of another run is reported where that run is read.
  const theirs = await foldRun(store, source, runFacts, { eventsMax: EVENTS_BEFORE_SCRIPT, onDefect: () => undefined });
  const [before, now] = [await textOf(store, theirs, source.workflow), await textOf(store, { sources }, workflow)];
  return before === undefined || now === undefined ? null : textDiff(before, now);
}

async function textOf(
  store: JournalStore,
  { sources }: Pick<RunFacts, 'sources'>,
  workflow: RunRef['workflow'],
): Promise<string | undefined> {
  const blob = sources.get(workflow)?.blob;
  const content = blob && (await store.getBlob(blob));
  return content && Buffer.from(content).toString('utf8');
}
