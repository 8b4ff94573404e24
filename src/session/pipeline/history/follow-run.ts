/**
 * Folds a logical run (`logical-run.ts`) and keeps the state current while its journals grow, for programs that run long.
 *
 * FOLLOW-1  Everything is read from the journals, also for runs of this process: nothing is reported that a crash could lose.
 * FOLLOW-2  A restart begins with an empty state. Calls are counted over all runs: each was paid for, also behind the event that a
 *           resume began with.
 */
import type { JournalEvent } from '../../../../journal/event.js';
import type { BlobId, Seq } from '../../../../journal/ids.js';
import type { JournalStore, ScanReport } from '../../../../journal/store.js';
import { emptyLedger, endRun, followCall } from '../../../../replay/fold/calls/call-ledger.js';
import type { RecordedCounts } from '../../../../replay/fold/recorded-counts.js';
import { foldOfRun } from '../../../../replay/pipeline/pipeline-fold.js';
import { pipelineState, type PipelineState } from '../../../../replay/pipeline/pipeline-state.js';
import { addRun, countsIn } from './chain-counts.js';
import type { LogicalRun, Segment } from './logical-run.js';

export interface FollowedRun {
  readonly state: PipelineState;
  /** Counts the calls of all runs of the logical run. */
  readonly calls: (isRunning: boolean) => RecordedCounts;
  /** All questions since the run last began anew, by id; with the answer if there is one. */
  readonly questions: ReadonlyMap<string, string | undefined>;
  /** The blob with the text of the pipeline. */
  readonly source: BlobId | undefined;
  /** The end of the last run, ISO 8601; undefined if it did not end in order. */
  readonly finishedAt: string | undefined;
}

export interface RunFollower {
  readonly logicalRun: LogicalRun;
  /** Reads new events. The result is live: it changes with the next call. */
  current(): Promise<FollowedRun>;
}

export function followLogicalRun(store: JournalStore, logicalRun: LogicalRun): RunFollower {
  let earlier: RecordedCounts | undefined;
  let isResumed = false;
  let ledger = emptyLedger();
  const calls = (isRunning: boolean): RecordedCounts => addRun(earlier, countsIn(ledger, isRunning), isResumed);
  let followed = nothingFollowed(calls);
  let index = 0;
  let from: ScanReport['end'] | undefined;
  let fold = foldOfRun(followed.state);
  let reading: Promise<void> = Promise.resolve();

  function take(event: JournalEvent, { ref, until }: Segment, position: Parameters<Parameters<JournalStore['scan']>[1]>[1]): void {
    followCall(ledger, event);
    if (until !== undefined && event.seq > until) return;
    if (event.type === 'run.started' && event.restartOf !== undefined) {
      followed = nothingFollowed(calls);
      fold = foldOfRun(followed.state);
    }
    if (fold.apply(event, { ref, position })) applyEvent(followed, event);
  }

  async function read(): Promise<void> {
    for (;;) {
      const at = logicalRun.segments[index];
      if (!at) return;
      const { end } = await store.scan(at.ref, (event, position) => take(event, at, position), { from });
      from = end;
      if (index === logicalRun.segments.length - 1) return; // this journal may still grow
      endRun(ledger);
      [earlier, ledger, isResumed] = [addRun(earlier, countsIn(ledger, false), isResumed), emptyLedger(), at.until !== undefined];
      index += 1;
      from = undefined;
      fold = foldOfRun(followed.state);
    }
  }

  return {
    logicalRun,
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

function nothingFollowed(calls: FollowedRun['calls']): MutableFollowedRun {
  return { calls, state: pipelineState.initial(), questions: new Map(), source: undefined, finishedAt: undefined };
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

/** An event with its number in the logical run, which is `seq` in the first run and continues from there. */
export interface NumberedEvent {
  readonly number: number;
  readonly event: JournalEvent;
}

const PART_EVENTS = 64;

/**
 * Reads a logical run in parts, so that a long one is never in memory as a whole. `more()` continues where the last part ended, also if the
 * journal has grown. After another resume it is another logical run: read that one from `after` on.
 */
export function readLogicalRun(
  store: JournalStore,
  { segments }: Pick<LogicalRun, 'segments'>,
  after: number,
): { more(): Promise<readonly NumberedEvent[]> } {
  let index = 0;
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
    const { end, events } = await store.scan(ref, visit, { eventsMax: PART_EVENTS, from });
    from = end;
    return { found, events };
  }

  return {
    async more() {
      for (;;) {
        const at = segments[index];
        if (!at) return [];
        const { found, events } = await part(at);
        if (found.length > 0) return found;
        if (events > 0) continue; // all of these were read before
        if (index === segments.length - 1) return [];
        index += 1;
        base += (last ?? -1) + 1;
        [from, last] = [undefined, undefined];
      }
    },
  };
}
