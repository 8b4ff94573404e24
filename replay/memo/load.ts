/**
 * Loads the prior runs of a workflow: reads and folds them. Work in proportion to what is new since the index.
 *
 * LOAD-1 nothing here changes a run; only the index is written, as a whole
 * LOAD-2 what can't be read is reported through `onDefect` and stepped over, never thrown
 */
import type { JournalEvent } from '../../journal/event.js';
import { seqOf, type EventRef, type RunId, type RunRef, type Workflow } from '../../journal/ids.js';
import type { Defect, JournalStore, Position, Recorded, RunFile } from '../../journal/store.js';
import { follow } from '../fold/projection.js';
import { isRecordOfUpkeep } from '../fold/record-of-upkeep.js';
import { foldUntil, type Cut } from './scan/fold-until.js';
import { IndexOnDisk, type IndexLimits } from './index-on-disk.js';
import { memo, type Memo } from './memo.js';
import { scanInOrder } from './scan/scan-in-order.js';
import { captureIndex, index, type CapturedIndex, type Covered, type Index } from './snapshot.js';
import { changeCount, detach, isOverIndex, tiersOf } from './tiers/changed-rows.js';

export interface PriorRuns extends Index {
  readonly workflow: Workflow;
  /** The runs that count: those since the last `clean`, oldest first. */
  readonly runs: readonly RunFile[];
  /** There were runs, and `--fresh` lets none of them count. */
  readonly areIgnored?: boolean;
  /** All that there are, oldest first. */
  readonly seen: readonly RunId[];
  /** The length of each of them when they were listed; runs in flight have grown since. */
  readonly sizes: ReadonlyMap<RunId, number>;
  /** Runs that were in flight, and the last event of each that was folded (-1: none). */
  readonly ongoing: readonly EventRef[];
  /** Runs that read as crashed, and whose process exists: it may go on, so its commands are its own. */
  readonly asleep: readonly RunId[];
  /** All runs that were folded, for the index. Undefined while a run is in flight: then only a later reader can write the index. */
  readonly covered: readonly Covered[] | undefined;
  /** Events that no index covers yet; each of their runs counts as some more, which is what opening it costs. */
  readonly newEvents: number;
  /** Undefined for prior runs as they were earlier, which no index is made of. */
  readonly onDisk: IndexOnDisk | undefined;
}

export interface LoadOptions {
  readonly onDefect: (defect: Defect) => void;
  /** Prior runs as they were at the end of this run, or at this event of it (which still counts). */
  readonly until?: Cut;
  /** Only runs up to this one, as they are now: no later one invalidates anything. No index is written, but one is read. */
  readonly upTo?: RunId;
  /** When an index is written, and tiers below it. */
  readonly limits?: IndexLimits;
}

export async function loadWorkflow(store: JournalStore, workflow: Workflow, options: LoadOptions): Promise<PriorRuns> {
  const { onDefect, until, upTo, limits } = options;
  if (until !== undefined) return loadUntil(store, workflow, await store.runs(workflow), until, onDefect);

  const onDisk = new IndexOnDisk(store, workflow, limits);
  const [all, content] = await Promise.all([store.runs(workflow), onDisk.content()]); // a store at a distance is waited for once
  const listed = upTo === undefined ? all : all.filter(({ ref }) => ref.run <= upTo);
  const saved = onDisk.decode(content, listed);
  const state: Index = saved?.index ?? index.initial();
  const covered: Covered[] = [...(saved?.covered ?? [])];
  const ongoing: EventRef[] = [];
  const unfinished = covered.at(-1)?.from === undefined ? undefined : covered.pop();
  let isPrefixSettled = upTo === undefined;
  let newEvents = 0;
  let captured: CapturedIndex | undefined;

  const files: RunFile[] = listed.slice(0, covered.length);
  const visit = (event: JournalEvent, position: Position, ref: RunRef): void => void index.apply(state, event, { ref, position });
  const added = listed
    .slice(covered.length)
    .map((file) => ({ file, from: file.ref.run === unfinished?.run ? unfinished.from : undefined }));
  for await (const { file, report } of scanInOrder({ store, visit, onDefect }, added)) {
    const { end, events } = report;
    newEvents += events + onDisk.limits.runEvents;
    files.push({ ...file, bytes: Math.max(file.bytes, end.offset) }); // a run in flight may have grown since it was listed
    if (file.liveness === 'running') ongoing.push({ run: file.ref.run, seq: end.seq });
    if (!isPrefixSettled) continue;
    covered.push(file.liveness === 'running' ? { run: file.ref.run, from: end } : { run: file.ref.run, bytes: file.bytes });
    if (file.liveness === 'running') {
      // INDEX-1: the index ends with the first run that is still growing, whatever ran beside it and is folded behind it.
      isPrefixSettled = false;
      if (isWorthAnIndex(onDisk, newEvents, state)) captured = capture(onDisk, covered, state);
    }
  }
  if (isPrefixSettled && isWorthAnIndex(onDisk, newEvents, state)) captured = capture(onDisk, covered, state);
  if (captured !== undefined) await onDisk.write(captured, tiersOf(state.memo));
  return {
    ...state,
    workflow,
    runs: countingRuns(files, state.memo),
    seen: files.map(({ ref }) => ref.run),
    sizes: sizesOf(files),
    ongoing,
    asleep: files.filter(({ isAsleep }) => isAsleep).map(({ ref }) => ref.run),
    covered: isPrefixSettled ? covered : undefined,
    newEvents: captured === undefined ? newEvents : 0,
    onDisk,
  };
}

function sizesOf(files: readonly RunFile[]): ReadonlyMap<RunId, number> {
  return new Map(files.map(({ ref, bytes }) => [ref.run, bytes]));
}

/**
 * Writing the index must cost less than reading the events again, or every small run would pay for all calls ever made. One of a long past
 * that could have tiers gets them at the first occasion: until then each start reads all of it.
 */
function isWorthAnIndex({ limits, hasFiles }: IndexOnDisk, newEvents: number, { memo: state }: Index): boolean {
  return newEvents >= limits.events && ((hasFiles && isOverIndex(state)) || newEvents >= changeCount(state));
}

/** The index holds all that the fold knows where there are no tiers below it, or one of them has a damaged page. */
function capture(onDisk: IndexOnDisk, covered: readonly Covered[], state: Index): CapturedIndex {
  if (tiersOf(state.memo)?.areDamaged !== false) detach(state.memo);
  return captureIndex({ covered, index: state }, tiersOf(state.memo) === undefined ? 0 : onDisk.calls);
}

/**
 * The index with a run of one's own that has just ended, so that the next start reads nothing again: `past` was followed
 * through all of it, `last` is its `run.finished`. Nothing is written when too little is new, or when other runs went on
 * beside it: only a reader knows how they ended.
 */
export async function saveIndex(prior: PriorRuns, run: RunId, { seq, position }: Recorded): Promise<void> {
  const { covered, onDisk } = prior;
  if (covered === undefined || onDisk === undefined || !isWorthAnIndex(onDisk, prior.newEvents + seq + 1 + onDisk.limits.runEvents, prior))
    return;
  const bytes = position.offset + position.bytes + NEWLINE_BYTES;
  await onDisk.write(capture(onDisk, [...covered, { run, bytes }], prior), tiersOf(prior.memo));
}

/**
 * Returns the runs in flight beside one that has just been created and invalidates results of its workflow: runs known from
 * loading, and those that were created since.
 */
export async function concurrentRuns(store: JournalStore, { seen, ongoing }: PriorRuns, own: RunRef): Promise<readonly EventRef[]> {
  const known = new Set([...seen, own.run]);
  const newcomers = (await store.runs(own.workflow)).filter(({ ref }) => !known.has(ref.run));
  return [...ongoing, ...newcomers.map(({ ref: { run } }) => ({ run, seq: NO_EVENT }))];
}

/** The position before the first event. */
const NO_EVENT = seqOf(-1);
const NEWLINE_BYTES = 1;

/** Keeps a loaded past current: call it with every fact of the new run, in the order of its journal. */
export function followIndex(prior: PriorRuns, ref: RunRef): ReturnType<typeof follow<Index>> {
  return follow(index, prior, ref);
}

/**
 * Returns prior runs as `--fresh` leaves them: no result to reuse, no run to resolve a target in. What a reset doesn't touch is kept,
 * so that an index saved behind it is that of all runs.
 */
export function withoutPriorRuns(prior: PriorRuns): PriorRuns {
  const { called, cleanedBy, outlasting, calledFrom, runNumber } = prior.memo;
  return {
    ...prior,
    memo: { ...memo.initial(), called, cleanedBy, outlasting, calledFrom, runNumber },
    definitions: new Map(),
    runs: [],
    areIgnored: prior.runs.length > 0,
  };
}

async function loadUntil(
  store: JournalStore,
  workflow: Workflow,
  all: readonly RunFile[],
  until: Cut,
  onDefect: (defect: Defect) => void,
): Promise<PriorRuns> {
  const { state, files } = await foldUntil(store, { all, until, onDefect });
  const seen = files.map(({ ref }) => ref.run);
  return {
    ...state,
    workflow,
    runs: countingRuns(files, state.memo),
    seen,
    sizes: sizesOf(files),
    ongoing: [],
    asleep: [],
    covered: undefined,
    newEvents: 0,
    onDisk: undefined,
  };
}

/** Those that `clean` has not put away, without records of upkeep; the last is the prior run. An emptied file is nothing recorded. */
export function countingRuns(files: readonly RunFile[], { cleanedBy, outlasting }: Memo): readonly RunFile[] {
  return files.filter(
    (file) =>
      file.bytes > 0 &&
      !isRecordOfUpkeep(file) &&
      (cleanedBy === undefined || file.ref.run > cleanedBy.run || outlasting.has(file.ref.run)),
  );
}
