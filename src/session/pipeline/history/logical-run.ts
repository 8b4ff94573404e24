/**
 * A logical run is a run of a pipeline, the runs that resumed it, and the runs that followed it over a `loop_restart` edge. For people
 * these are one run, known by the id of the first. graph-pipelines.md 6.8, 10.1.
 */
import type { EventOf } from '../../../../journal/event.js';
import type { RunId, RunRef, Seq } from '../../../../journal/ids.js';

/** The first event of a run. */
export interface FirstEvent {
  readonly ref: RunRef;
  readonly started: EventOf<'run.started'>;
}

/** A run, up to the event at which the next one resumed it. */
export interface Segment {
  readonly ref: RunRef;
  readonly until: Seq | undefined;
}

export interface LogicalRun {
  readonly id: RunId;
  readonly segments: readonly Segment[];
  /** The first event of the run that last began anew: of the first run, or of the last restart. */
  readonly begun: EventOf<'run.started'>;
}

/**
 * Returns a logical run for each first run. If a run was resumed twice, the later resume counts, and the other one is left out.
 *
 * @param heads the first events of the runs of one file, oldest first
 */
export function logicalRunsOf(heads: readonly FirstEvent[]): readonly LogicalRun[] {
  const known = new Map(heads.map((head) => [head.ref.run, head]));
  const newest = new Map<RunId, FirstEvent>();
  const firstOf = new Map<RunId, RunId>();
  for (const head of heads) {
    const { run } = head.ref;
    const before = predecessor(head);
    // A run whose predecessor was removed begins a logical run of its own.
    const first = (before && firstOf.get(before.run)) ?? run;
    firstOf.set(run, first);
    newest.set(first, head);
  }
  return [...newest].map(([id, head]) => ({ id, ...backFrom(head, known) }));
}

function backFrom(newest: FirstEvent, known: ReadonlyMap<RunId, FirstEvent>): Omit<LogicalRun, 'id'> {
  const segments: Segment[] = [{ ref: newest.ref, until: undefined }];
  let begun = newest.started;
  for (let before = predecessor(newest); before;) {
    const head = known.get(before.run);
    if (!head || segments.some(({ ref }) => ref.run === head.ref.run)) break;
    segments.unshift({ ref: head.ref, until: before.until });
    if (begun.restartOf === undefined) begun = head.started;
    before = predecessor(head);
  }
  return { segments, begun };
}

function predecessor({ started: { resume, restartOf } }: FirstEvent): { readonly run: RunId; readonly until: Seq | undefined } | undefined {
  if (resume) return { run: resume.run, until: resume.seq };
  return restartOf === undefined ? undefined : { run: restartOf, until: undefined };
}
