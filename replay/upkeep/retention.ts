/**
 * Decides which runs may be removed, and for each that is kept the reason.
 *
 * RETENTION-1 a run is kept that holds a result which the next run would reuse, or a fork at an earlier point would
 * RETENTION-2 a run is kept in which a `--resume` is resolved: the latest, the latest caller of a function, the last to close a checkpoint
 * RETENTION-3 a run is kept whose results a kept run reused, or which a kept run resumes or was started by
 * RETENTION-4 a run is kept that invalidated something of an earlier kept run: without it, the next run would reuse what was invalidated
 * RETENTION-5 a run is kept while its writer lives, and while its record is damaged: then it is unknown what it needs
 * RETENTION-6 a run is kept that holds events which this program does not know, and so are the runs that these events name
 * RETENTION-7 a run and those that serve it (of workers, or of salvage) are kept together, and count as one run
 * RETENTION-8 a run that only records a rejection, a restoration or a clean doesn't count: it has the place of the run before it
 */
import type { CallKey, RunId, RunRef, Workflow } from '../../journal/ids.js';
import type { RunFile } from '../../journal/store.js';
import type { Lineage, ForkPoint, RunTies } from './lineage.js';
import { isRecordOfUpkeep, servesAnotherRun } from '../fold/record-of-upkeep.js';
import { usable } from '../memo/memo.js';
import { headOf } from './runs-as-one.js';

export type Reason =
  'recent' | 'running' | 'unknown' | 'damaged' | 'latest' | 'results' | 'resume' | 'fork' | 'reused' | 'revokes' | 'served';

/** The runs of one workflow, oldest first, with what they owe each other. */
export interface Folded {
  readonly workflow: Workflow;
  readonly files: readonly RunFile[];
  readonly lineage: Lineage;
  /** Runs that could not be read in full. */
  readonly damaged: ReadonlySet<RunId>;
  /** Runs in a version of the format that this program does not know. */
  readonly newer: ReadonlySet<RunId>;
}

export interface RetentionRequest {
  /** So many latest runs of each workflow stay. Undefined: the number decides nothing. */
  readonly keep: number | undefined;
  /** Runs from this time on stay: milliseconds since 1970. Undefined: the time decides nothing. */
  readonly sinceMs: number | undefined;
  /** Only runs of this workflow go. */
  readonly workflow: Workflow | undefined;
  /** `stays`: runs that others need are kept. */
  readonly needed: 'stays' | 'goes';
}

export interface Kept {
  readonly ref: RunRef;
  readonly reason: Reason;
}

export interface Decision {
  /** Oldest first: in this order each beginning of the removal leaves a history that reuses the same results (RETENTION-4). */
  readonly remove: readonly RunRef[];
  /** Those that the wish alone would have removed. */
  readonly protectedRuns: readonly Kept[];
}

/** `startOf`: when a run began, milliseconds since 1970. `lentAt`: a workflow as a fork of its past sees it. */
export function decide(
  workflows: readonly Folded[],
  request: RetentionRequest,
  { startOf, forkedAt }: { startOf(run: RunId): number; forkedAt(point: ForkPoint): Lineage | undefined },
): Decision {
  const all = new Map(workflows.flatMap(({ files }) => files.map((file) => [file.ref.run, file] as const)));
  const kept = new Map<RunId, Reason>();
  const queue: RunId[] = [];
  const ties = new Map(workflows.flatMap(({ lineage }) => [...lineage.runs]));
  const heads = headsOf(all.keys(), ties);
  const units = new Map<RunId | undefined, RunId[]>();
  for (const [run, head] of heads) units.set(head, [...(units.get(head) ?? []), run]);
  const keep = (run: RunId, reason: Reason): void => {
    if (kept.has(run) || !all.has(run)) return;
    kept.set(run, reason);
    queue.push(run);
    for (const other of units.get(heads.get(run)) ?? []) keep(other, reason === 'recent' ? reason : 'served'); // RETENTION-7
  };

  for (const folded of workflows) for (const [run, reason] of roots(folded, heads, request, startOf)) keep(run, reason);
  if (request.needed === 'stays') for (const { lineage } of workflows) for (const [run, reason] of reusableRuns(lineage)) keep(run, reason);

  for (;;) {
    for (let run = queue.pop(); run !== undefined; run = queue.pop()) {
      const own = ties.get(run);
      if (own === undefined) continue;
      for (const other of own.unknown.names) keep(other, 'unknown');
      if (request.needed === 'goes') continue;
      for (const other of own.reusedFrom.keys()) keep(other, 'reused');
      for (const other of own.builtOn) keep(other.run, 'resume');
      for (const fork of own.forkedFrom) {
        keep(fork.run, 'fork');
        const forked = forkedAt(fork);
        if (forked !== undefined) for (const [other] of reusableRuns(forked)) keep(other, 'fork');
      }
    }
    for (const { lineage } of workflows) for (const run of revokers(lineage, kept)) keep(run, 'revokes');
    if (queue.length === 0) break;
  }
  const requested = [...all.keys()].filter((run) => kept.get(run) !== 'recent').sort();
  return {
    remove: requested.filter((run) => !kept.has(run)).map((run) => (all.get(run) as RunFile).ref),
    protectedRuns: requested.flatMap((run) => {
      const reason = kept.get(run);
      return reason === undefined ? [] : [{ ref: (all.get(run) as RunFile).ref, reason }];
    }),
  };
}

/** For each run the one with which it is one: itself, or the run that it serves, also where that is gone. */
function headsOf(runs: Iterable<RunId>, ties: ReadonlyMap<RunId, RunTies>): ReadonlyMap<RunId, RunId> {
  const serves = new Map<RunId, RunId>();
  for (const [run, { serves: served }] of ties) if (served !== undefined) serves.set(run, served);
  return new Map(Array.from(runs, (run) => [run, headOf(serves, run)]));
}

function* roots(
  { workflow, files, damaged, newer, lineage }: Folded,
  heads: ReadonlyMap<RunId, RunId>,
  request: RetentionRequest,
  startOf: (run: RunId) => number,
): Generator<readonly [RunId, Reason]> {
  const { keep, sinceMs } = request;
  const isLimited = keep !== undefined || sinceMs !== undefined;
  const isByItself = (file: RunFile): boolean => heads.get(file.ref.run) === file.ref.run && !servesAnotherRun(file);
  const isCounted = (file: RunFile): boolean => isByItself(file) && !isRecordOfUpkeep(file); // RETENTION-8
  let fromEnd = files.filter(isCounted).length + 1;
  for (const file of files) {
    const { ref, liveness } = file;
    if (isCounted(file)) fromEnd--;
    const isAmongKept = keep !== undefined && fromEnd <= keep && isByItself(file);
    const isRecent = isAmongKept || (sinceMs !== undefined && startOf(ref.run) >= sinceMs);
    if (!isLimited || isRecent || (request.workflow !== undefined && request.workflow !== workflow)) yield [ref.run, 'recent'];
    else if (liveness === 'running') yield [ref.run, 'running'];
    else if (newer.has(ref.run) || (lineage.runs.get(ref.run)?.unknown.types.size ?? 0) > 0) yield [ref.run, 'unknown'];
    else if (damaged.has(ref.run)) yield [ref.run, 'damaged'];
    else if (fromEnd === 1 && isCounted(file)) yield [ref.run, 'latest'];
  }
}

/** RETENTION-1 and RETENTION-2. */
function* reusableRuns({ index, completedBy, insideBy }: Lineage): Generator<readonly [RunId, Reason]> {
  for (const [key, { result }] of usable(index.memo)) {
    yield [result.ref.run, 'results'];
    for (const run of insideBy.get(key)?.values() ?? []) yield [run, 'resume'];
  }
  for (const { result } of index.memo.unjudged.values()) yield [result.ref.run, 'results'];
  for (const { run } of index.memo.called.values()) yield [run, 'resume'];
  for (const run of completedBy.values()) yield [run, 'resume'];
}

/** RETENTION-4. */
function* revokers({ runs, index }: Lineage, kept: ReadonlyMap<RunId, Reason>): Generator<RunId> {
  const earlier: RunTies[] = [];
  for (const [run, ties] of runs) {
    const isStillInvalid = (key: CallKey): boolean => {
      const result = index.memo.entries.get(key)?.result;
      return !(result !== undefined && result.ref.run > run && kept.has(result.ref.run)) && earlier.some(({ results }) => results.has(key));
    };
    const isNeeded =
      (ties.reset && earlier.length > 0) ||
      [...ties.invalidated].some(isStillInvalid) ||
      [...ties.refused].some((key) => index.memo.refused.has(key));
    if (isNeeded) yield run;
    if (isNeeded || kept.has(run)) earlier.push(ties);
  }
}
