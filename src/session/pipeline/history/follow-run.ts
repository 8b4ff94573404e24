/**
 * A line of runs (`lines.ts`), folded and kept current while its journals grow: what a program that lives long knows of a pipeline.
 *
 * F1 Everything is read from the journals, also for runs of one's own process: what is told is with the kernel.
 * F2 A restart begins with nothing; what was before it is history.
 */
import type { JournalEvent } from '../../../../journal/event.js';
import type { BlobId, Seq } from '../../../../journal/ids.js';
import type { JournalStore, ScanReport } from '../../../../journal/store.js';
import { foldOfRun } from '../../../../replay/pipeline/graph-fold.js';
import { graphState, type GraphState } from '../../../../replay/pipeline/graph-state.js';
import type { LogicalRun, Segment } from './logical-run.js';

export interface FollowedRun {
  readonly state: GraphState;
  /** Every question that was put since the last start from nothing, with the answer where there is one. */
  readonly questions: ReadonlyMap<string, string | undefined>;
  /** The text of the pipeline. */
  readonly source: BlobId | undefined;
  /** ISO; of the run that ended last, where it ended in order. */
  readonly finishedAt: string | undefined;
}

export interface RunFollower {
  readonly logicalRun: LogicalRun;
  /** Reads what is new. The result is live: it changes with the next call. */
  current(): Promise<FollowedRun>;
}

export function followLogicalRun(store: JournalStore, line: LogicalRun): RunFollower {
  let followed = nothingFollowed();
  let stretch = 0;
  let from: ScanReport['end'] | undefined;
  let fold = foldOfRun(followed.state);
  let reading: Promise<void> = Promise.resolve();

  function take(event: JournalEvent, { ref, until }: Segment, position: Parameters<Parameters<JournalStore['scan']>[1]>[1]): void {
    if (until !== undefined && event.seq > until) return;
    if (event.type === 'run.started' && event.restartOf !== undefined) {
      followed = nothingFollowed();
      fold = foldOfRun(followed.state);
    }
    if (fold.apply(event, { ref, position })) applyEvent(followed, event);
  }

  async function read(): Promise<void> {
    for (;;) {
      const at = line.segments[stretch];
      if (!at) return;
      const { end } = await store.scan(at.ref, (event, position) => take(event, at, position), from === undefined ? {} : { from });
      from = end;
      if (stretch === line.segments.length - 1) return; // it may still grow
      stretch += 1;
      from = undefined;
      fold = foldOfRun(followed.state);
    }
  }

  return {
    logicalRun: line,
    async current() {
      reading = reading.catch(() => undefined).then(read);
      await reading;
      return followed;
    },
  };
}

interface MutableFollowedRun extends FollowedRun {
  readonly questions: Map<string, string | undefined>;
  source: BlobId | undefined;
  finishedAt: string | undefined;
}

function nothingFollowed(): MutableFollowedRun {
  return { state: graphState.initial(), questions: new Map(), source: undefined, finishedAt: undefined };
}

function applyEvent(notes: MutableFollowedRun, event: JournalEvent): void {
  switch (event.type) {
    case 'run.started':
      notes.finishedAt = undefined;
      break;
    case 'run.finished':
      notes.finishedAt = event.ts;
      break;
    case 'source.loaded':
      if (event.role === 'script') notes.source = event.blob;
      break;
    case 'question.asked':
      notes.questions.set(event.id, undefined);
      break;
    case 'question.answered':
      notes.questions.set(event.id, event.answer);
      break;
  }
}

/** Events of a line, numbered through; `seq` in its first run. */
export interface NumberedEvent {
  readonly number: number;
  readonly event: JournalEvent;
}

const PART_EVENTS = 64;

/**
 * Reads a line in parts, so that a long one is never in memory as a whole; `more()` goes on where the last part ended, also when the
 * journal has grown. A line that was resumed meanwhile is another one: begin with `after`.
 */
export function readLogicalRun(
  store: JournalStore,
  { segments: stretches }: LogicalRun,
  after: number,
): { more(): Promise<readonly NumberedEvent[]> } {
  let stretch = 0;
  let base = 0;
  let last: Seq | undefined;
  let from: ScanReport['end'] | undefined;

  async function part({ ref, until }: Segment): Promise<{ readonly found: NumberedEvent[]; readonly events: number }> {
    const found: NumberedEvent[] = [];
    const visit = (event: JournalEvent): void => {
      if (until !== undefined && event.seq > until) return;
      last = event.seq;
      if (base + event.seq > after) found.push({ number: base + event.seq, event });
    };
    const { end, events } = await store.scan(ref, visit, { eventsMax: PART_EVENTS, ...(from === undefined ? {} : { from }) });
    from = end;
    return { found, events };
  }

  return {
    async more() {
      for (;;) {
        const at = stretches[stretch];
        if (!at) return [];
        const { found, events } = await part(at);
        if (found.length > 0) return found;
        if (events > 0) continue; // all of it was read before
        if (stretch === stretches.length - 1) return [];
        stretch += 1;
        base += (last ?? -1) + 1;
        [from, last] = [undefined, undefined];
      }
    },
  };
}
