/**
 * Releases recorded results in the order in which they were recorded, regardless of the order in which code waits for them.
 *
 * ORDER-1  A result is released only when nothing else can happen, and then the earliest of all that are waited for. What follows from a
 *          result depends only on earlier results, so the earliest one waited for is the one that came next in the recorded run. Reading a
 *          result from the disk counts as something that happens: nothing else is released meanwhile.
 * ORDER-2  A wait without a place in the record (`seq` -1) ends before all waits that have one.
 */
import type { Frame } from '../../runtime/frame.js';

export interface ReplayOrder {
  /** Resolves when the event `seq` is the next one. `frame` is the code that waits, if that is known. */
  waitFor(seq: number, frame?: Frame): Promise<void>;
  /** Releases nothing until the returned function is called (ORDER-1). */
  hold(): () => void;
  /** Resolves when no code waits any more and nothing has happened for a while. */
  idle(): Promise<void>;
}

/** Long enough to load a module of the program that is imported when it is first needed. */
const QUIET_MS = 100;

interface Waiting {
  readonly seq: number;
  readonly frame: Frame | undefined;
  readonly release: () => void;
}

/** `mayRelease` is called before each release; once it returns false, nothing is released any more. */
export function createReplayOrder(mayRelease: (seq: number, frame: Frame | undefined) => boolean | Promise<boolean>): ReplayOrder {
  const waiting: Waiting[] = [];
  let scheduled = false;
  let held = 0;
  let releases = 0;

  function schedule(): void {
    if (scheduled || held > 0 || waiting.length === 0) return;
    scheduled = true;
    // By then every promise that does not depend on this order has settled.
    setImmediate(() => void releaseNext());
  }

  async function releaseNext(): Promise<void> {
    if (held > 0) {
      scheduled = false;
      return;
    }
    const next = takeEarliest(waiting);
    const allowed = mayRelease(next.seq, next.frame);
    if (!(typeof allowed === 'boolean' ? allowed : await allowed)) return; // `scheduled` stays true, so nothing is released again
    scheduled = false;
    releases++;
    next.release();
    schedule();
  }

  return {
    waitFor: (seq, frame) =>
      new Promise((resolve) => {
        waiting.push({ seq, frame, release: resolve });
        schedule();
      }),
    hold() {
      let isHeld = true;
      held++;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        held--;
        schedule();
      };
    },
    async idle() {
      for (let seen = -1; seen !== releases || waiting.length > 0 || held > 0;) {
        seen = releases;
        await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
      }
    },
  };
}

function takeEarliest(waiting: Waiting[]): Waiting {
  let earliest = 0;
  for (let i = 1; i < waiting.length; i++) if ((waiting[i] as Waiting).seq < (waiting[earliest] as Waiting).seq) earliest = i;
  return waiting.splice(earliest, 1)[0] as Waiting;
}

/** Resolves when the signal is aborted: waits that are in no record end so. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
