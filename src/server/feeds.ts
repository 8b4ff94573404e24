/**
 * Shares the events of a run among its watchers: the journal is read once and every event is encoded once, however many watch.
 *
 * FEED-1 The latest frames are kept up to a limit. A watcher that is further behind reads the journal: the journal is the queue, so a slow
 *        client's backlog takes no memory.
 * FEED-2 A feed lives while it is watched. It ends after the last event of a run that is over.
 * FEED-3 Watchers take at most a tenth of the time: the more there are, the more events each gets at once. The run has priority.
 */
import type { RunId, RunRef } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import { type LogicalRun, type NumberedEvent, type PipelineStatus, readLogicalRun } from '../api/pipeline-runs.js';

const POLL_MS = 100;
const POLL_MS_MAX = 1000;
/** The rest after handing out events is this multiple of the time that it took (FEED-3). */
const REST_FACTOR = 9;
/** The interval of checks whether the run is still running, and which journals it has. */
const LOOK_MS = 1000;
const KEPT_BYTES = 4 * 1024 * 1024;
/** The most bytes that a client is sent at once, unless a single event is longer. */
export const PART_BYTES = 64 * 1024;

/** The parts of a pipeline run that its feed reads. */
export interface FeedRun {
  readonly logicalRun: Pick<LogicalRun, 'id' | 'segments'>;
  readonly latest: { readonly ref: RunRef };
  readonly status: Pick<PipelineStatus, 'status'>;
}

export interface FeedPorts {
  readonly store: JournalStore;
  readonly runs: { find(id: RunId): Promise<FeedRun | undefined> };
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
  readonly monotonicMs: () => number;
}

export interface Part {
  readonly bytes: Uint8Array;
  /** The number of the last event in it. */
  readonly last: number;
}

export interface Feed {
  /** Returns the next events after that number, undefined while there are none; `behind` when those up to `until` are no longer kept. */
  after(number: number): Part | { readonly behind: true; readonly until: number } | undefined;
  /** True when no more events will come. */
  readonly isOver: boolean;
  /** The run at the latest check. */
  readonly run: FeedRun;
  /** Resolves when there are more events, or no more will come; after `ms` at the latest. */
  change(signal: AbortSignal, ms: number): Promise<void>;
  leave(): void;
}

/** Returns a function that joins the feed of a run. */
export function createFeeds(ports: FeedPorts): (run: FeedRun) => Feed {
  const feeds = new Map<RunId, ReturnType<typeof startFeed>>();
  return (run) => {
    const { id } = run.logicalRun;
    const feed = feeds.get(id) ?? startFeed(ports, run, () => feeds.delete(id));
    feeds.set(id, feed);
    return feed.join();
  };
}

export function isOver({ status: { status } }: FeedRun): boolean {
  return status !== 'running' && status !== 'waiting';
}

export function frameOf({ number, event }: NumberedEvent): string {
  return `id: ${number}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

interface Frame {
  readonly number: number;
  readonly bytes: Uint8Array;
}

/** Returns the index of the first frame with a higher number, by binary search. */
function firstBehind(frames: readonly Frame[], number: number): number {
  let low = 0;
  for (let high = frames.length; low < high;) {
    const middle = (low + high) >>> 1;
    if ((frames[middle] as Frame).number > number) high = middle;
    else low = middle + 1;
  }
  return low;
}

function startFeed({ store, runs, stopping, monotonicMs }: FeedPorts, first: FeedRun, onOver: () => void) {
  let run = first;
  let frames: Frame[] = [];
  let keptBytes = 0;
  let droppedUntil = -1;
  let joined = 0;
  let over = false;
  const waiting = new Set<() => void>();
  /** The latest part: most clients want the same one. */
  let latest: (Part & { readonly from: number }) | undefined;

  function wake(): void {
    for (const resume of waiting) resume();
  }

  function keep(part: readonly NumberedEvent[]): void {
    for (const numbered of part) {
      const bytes = Buffer.from(frameOf(numbered));
      frames.push({ number: numbered.number, bytes });
      keptBytes += bytes.length;
    }
    let dropped = 0;
    for (; keptBytes > KEPT_BYTES && dropped < frames.length; dropped++) {
      const { number, bytes } = frames[dropped] as Frame;
      keptBytes -= bytes.length;
      droppedUntil = number;
    }
    if (dropped > 0) frames = frames.slice(dropped);
  }

  /** Resolves when every watcher has been sent what it accepts now, with the milliseconds that took. */
  async function handOut(): Promise<number> {
    const sinceMs = monotonicMs();
    wake();
    await new Promise((resolve) => setImmediate(resolve));
    return monotonicMs() - sinceMs;
  }

  async function pump(): Promise<void> {
    let reader = readLogicalRun(store, run.logicalRun, -1);
    let last = -1;
    // The run was over before reading started, so the end of the journal is the end of the feed.
    let isLast = isOver(run);
    let lookedMs = monotonicMs();
    let hasNews = false;
    while (joined > 0 && !stopping.aborted) {
      const part = await reader.more();
      const newest = part.at(-1);
      if (newest) {
        keep(part);
        hasNews = true;
        last = newest.number;
        if (newest.event.type === 'run.finished') lookedMs = Number.NEGATIVE_INFINITY;
      } else if (isLast) {
        return;
      } else if (monotonicMs() - lookedMs >= LOOK_MS) {
        const now = await runs.find(run.logicalRun.id);
        if (!now) return; // its journal was removed
        if (now.latest.ref.run !== run.latest.ref.run) reader = readLogicalRun(store, now.logicalRun, last);
        run = now;
        isLast = isOver(now);
        lookedMs = monotonicMs();
      } else {
        const tookMs = hasNews ? await handOut() : 0;
        hasNews = false;
        const restMs = Math.min(POLL_MS_MAX, Math.max(POLL_MS, tookMs * REST_FACTOR));
        await new Promise((resolve) => setTimeout(resolve, restMs));
      }
    }
  }

  function after(number: number): ReturnType<Feed['after']> {
    if (number < droppedUntil) return { behind: true, until: droppedUntil };
    if (latest?.from === number) return latest;
    let index = firstBehind(frames, number);
    const sent: Uint8Array[] = [];
    let bytes = 0;
    let last = number;
    for (let frame = frames[index]; frame && (sent.length === 0 || bytes + frame.bytes.length <= PART_BYTES); frame = frames[++index]) {
      sent.push(frame.bytes);
      bytes += frame.bytes.length;
      last = frame.number;
    }
    if (sent.length === 0) return undefined;
    latest = { from: number, bytes: sent.length === 1 ? (sent[0] as Uint8Array) : Buffer.concat(sent, bytes), last };
    return latest;
  }

  function change(signal: AbortSignal, ms: number): Promise<void> {
    if (over || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done, { once: true });
      waiting.add(done);
      function done(): void {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        waiting.delete(done);
        resolve();
      }
    });
  }

  return {
    join(): Feed {
      joined += 1;
      if (joined === 1) {
        void pump()
          .catch(() => undefined) // watchers reconnect, and get the error then
          .finally(() => {
            over = true;
            onOver();
            wake();
          });
      }
      return {
        after,
        change,
        leave: () => void (joined -= 1),
        get isOver() {
          return over;
        },
        get run() {
          return run;
        },
      };
    },
  };
}
