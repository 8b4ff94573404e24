/**
 * The runs of a pipeline's file, put in lines: a run, those that resumed it, and those that a `loop_restart` edge made of it. For people
 * each line is one run, known by the id of its first. graph-pipelines.md 6.8, 10.1.
 */
import type { EventOf } from '../../../../journal/event.js';
import type { RunId, RunRef, Seq } from '../../../../journal/ids.js';

/** The first event of a run. */
export interface FirstEvent {
  readonly ref: RunRef;
  readonly started: EventOf<'run.started'>;
}

/** A run of a line, up to the event from which the next one went on. */
export interface Segment {
  readonly ref: RunRef;
  readonly until: Seq | undefined;
}

export interface LogicalRun {
  readonly id: RunId;
  readonly segments: readonly Segment[];
  /** The first event of the run that last began with nothing: the first of all, or of the last restart. */
  readonly begun: EventOf<'run.started'>;
}

/**
 * One line per first run. Where a run was resumed twice the later one counts, and what the other did is no part of the line.
 *
 * @param heads of the runs of one file, oldest first
 */
export function logicalRunsOf(heads: readonly FirstEvent[]): readonly LogicalRun[] {
  const known = new Map(heads.map((head) => [head.ref.run, head]));
  const newest = new Map<RunId, FirstEvent>();
  const firstOf = new Map<RunId, RunId>();
  for (const head of heads) {
    const { run } = head.ref;
    const before = predecessor(head);
    // A run whose predecessor was removed begins a line of its own.
    const first = (before && firstOf.get(before.run)) ?? run;
    firstOf.set(run, first);
    newest.set(first, head);
  }
  return [...newest].map(([id, head]) => ({ id, ...backFrom(head, known) }));
}

function backFrom(newest: FirstEvent, known: ReadonlyMap<RunId, FirstEvent>): Omit<LogicalRun, 'id'> {
  const stretches: Segment[] = [{ ref: newest.ref, until: undefined }];
  let begun = newest.started;
  for (let before = predecessor(newest); before;) {
    const head = known.get(before.run);
    if (!head || stretches.some(({ ref }) => ref.run === head.ref.run)) break;
    stretches.unshift({ ref: head.ref, until: before.until });
    if (begun.restartOf === undefined) begun = head.started;
    before = predecessor(head);
  }
  return { segments: stretches, begun };
}

function predecessor({ started: { resume, restartOf } }: FirstEvent): { readonly run: RunId; readonly until: Seq | undefined } | undefined {
  if (resume) return { run: resume.run, until: resume.seq };
  return restartOf === undefined ? undefined : { run: restartOf, until: undefined };
}
