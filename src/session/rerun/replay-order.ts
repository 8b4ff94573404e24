/**
 * Gives recorded answers in the order in which they were recorded, whatever the order in which they are asked for now.
 *
 * T1  An answer is given only when nothing else can happen: of all that waits then, the earliest. What follows from an answer depends on
 *     nothing but earlier answers, so the earliest that waits is the one that came next in the recorded run.
 *     Reading an answer from the disk is something that happens: nothing else is given meanwhile.
 * T2  What has no place in the record (`seq` -1) is given before all that has one.
 */
import type { Frame } from '../../runtime/frame.js';

export interface ReplayOrder {
  /** Resolves when it is the turn of the event `seq`. `frame`: who waits for it, where that is known. */
  waitFor(seq: number, frame?: Frame): Promise<void>;
  /** Nothing is given until what it gave back is called (T1). */
  hold(): () => void;
  /** Resolves when nobody waits any more and nothing has happened for a while. */
  idle(): Promise<void>;
}

/** Long enough for code of ours that is loaded when it is first needed. */
const QUIET_MS = 100;

interface Waiting {
  readonly seq: number;
  readonly frame: Frame | undefined;
  readonly go: () => void;
}

/** `before` is asked before each turn; false: nothing is given any more. */
export function createReplayOrder(before: (seq: number, frame: Frame | undefined) => boolean | Promise<boolean>): ReplayOrder {
  const waiting: Waiting[] = [];
  let scheduled = false;
  let held = 0;
  let turns = 0;

  function schedule(): void {
    if (scheduled || held > 0 || waiting.length === 0) return;
    scheduled = true;
    // By then every promise that could be kept without us has been.
    setImmediate(() => void giveNext());
  }

  async function giveNext(): Promise<void> {
    if (held > 0) {
      scheduled = false;
      return;
    }
    const next = takeEarliest(waiting);
    const allowed = before(next.seq, next.frame);
    if (!(typeof allowed === 'boolean' ? allowed : await allowed)) return; // and stays scheduled for good
    scheduled = false;
    turns++;
    next.go();
    schedule();
  }

  return {
    waitFor: (seq, frame) =>
      new Promise((resolve) => {
        waiting.push({ seq, frame, go: resolve });
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
      for (let seen = -1; seen !== turns || waiting.length > 0 || held > 0;) {
        seen = turns;
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
