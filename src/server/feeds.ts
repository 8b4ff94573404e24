/**
 * What those who watch a run have in common: its journal is read once, and every event is encoded once, however many watch.
 *
 * F1 The latest frames are kept, up to a limit. Whoever is further behind reads the journal: it is the queue, and what a slow client has
 * not
 *    taken is in no memory.
 * F2 A feed lives while somebody watches. It ends behind the last event of a run that is over.
 * F3 Those who watch take a tenth of the time at most: the more there are, the more events they get at a time. The run comes first.
 */
import type { RunId } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import { readLogicalRun, type NumberedEvent } from '../session/pipeline/history/follow-run.js';
import type { PipelineRuns, PipelineRun } from '../session/pipeline/history/pipeline-runs.js';

const POLL_MS = 100;
const POLL_MS_MAX = 1000;
/** F3: how much longer than the handing out the rest behind it is. */
const REST_FACTOR = 9;
/** How often it is looked whether a run still goes on, and in which journals. */
const LOOK_MS = 1000;
const KEPT_BYTES = 4 * 1024 * 1024;
/** What one client is sent at a time, unless a single event is longer. */
export const PART_BYTES = 64 * 1024;

export interface FeedPorts {
  readonly store: JournalStore;
  readonly runs: PipelineRuns;
  /** The server ends. */
  readonly stopping: AbortSignal;
  readonly monotonicMs: () => number;
}

export interface Part {
  readonly bytes: Uint8Array;
  /** The number of the last event in it. */
  readonly last: number;
}

export interface Feed {
  /** The next events behind that number; undefined: none yet. `behind`: they are not kept any more, up to and with `until`. */
  after(number: number): Part | { readonly behind: true; readonly until: number } | undefined;
  /** Nothing comes any more. */
  readonly isOver: boolean;
  /** The run as it was last looked at. */
  readonly run: PipelineRun;
  /** Resolves when there is more, or nothing more to come; after `ms` at the latest. */
  change(signal: AbortSignal, ms: number): Promise<void>;
  leave(): void;
}

/** Joins the feed of a run that goes on. */
export function createFeeds(ports: FeedPorts): (run: PipelineRun) => Feed {
  const feeds = new Map<RunId, ReturnType<typeof startFeed>>();
  return (run) => {
    const { id } = run.logicalRun;
    const feed = feeds.get(id) ?? startFeed(ports, run, () => feeds.delete(id));
    feeds.set(id, feed);
    return feed.join();
  };
}

export function isOver({ status: { status } }: PipelineRun): boolean {
  return status !== 'running' && status !== 'waiting';
}

export function frameOf({ number, event }: NumberedEvent): string {
  return `id: ${number}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

interface Frame {
  readonly number: number;
  readonly bytes: Uint8Array;
}

/** Where the first frame with a higher number is: they are in order. */
function firstBehind(frames: readonly Frame[], number: number): number {
  let low = 0;
  for (let high = frames.length; low < high;) {
    const middle = (low + high) >>> 1;
    if ((frames[middle] as Frame).number > number) high = middle;
    else low = middle + 1;
  }
  return low;
}

function startFeed({ store, runs, stopping, monotonicMs }: FeedPorts, first: PipelineRun, onOver: () => void) {
  let run = first;
  let frames: Frame[] = [];
  let keptBytes = 0;
  let droppedUntil = -1;
  let joined = 0;
  let over = false;
  const waiting = new Set<() => void>();
  /** Most clients are at the same place. */
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

  /** Resolves when everybody has been sent what they take now; gives how long that took. */
  async function handOut(): Promise<number> {
    const sinceMs = monotonicMs();
    wake();
    await new Promise((resolve) => setImmediate(resolve));
    return monotonicMs() - sinceMs;
  }

  async function pump(): Promise<void> {
    let reader = readLogicalRun(store, run.logicalRun, -1);
    let last = -1;
    // Over before the reading began: when it comes to its end, that is all.
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
          .catch(() => undefined) // whoever watches asks again, and is told then
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
