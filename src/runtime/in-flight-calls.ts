/**
 * Questions that are being asked. Whoever has the same question waits for the answer, unless that wait could never end: a guard or a
 * hook inside the call that asks again, two calls that ask each other's question side by side.
 */
import type { CallKey, OpPath } from '../../journal/ids.js';

interface InFlightCall {
  readonly op: OpPath;
  readonly ended: Promise<void>;
}

export class InFlightCalls {
  private readonly running = new Map<CallKey, InFlightCall>();
  private readonly waits = new Set<{ readonly op: OpPath; readonly turn: InFlightCall }>();

  /** Resolves when nobody asks the question any more whose answer `op` may wait for; undefined when nobody does. */
  wait(key: CallKey, op: OpPath): Promise<void> | undefined {
    return this.isInFlight(key, op) ? this.untilNoneInFlight(key, op) : undefined;
  }

  private async untilNoneInFlight(key: CallKey, op: OpPath): Promise<void> {
    // A loop, because the one in flight may fail and another may already be trying.
    for (let turn = this.awaited(key, op); turn; turn = this.awaited(key, op)) {
      const wait = { op, turn };
      this.waits.add(wait);
      await turn.ended;
      this.waits.delete(wait);
    }
  }

  /** Whether somebody asks the question now whose answer `op` may wait for. */
  isInFlight(key: CallKey, op: OpPath): boolean {
    return this.awaited(key, op) !== undefined;
  }

  /** Gives the function that ends the turn. Who asks in spite of a turn stays in its shadow. */
  start(key: CallKey, op: OpPath): () => void {
    let finish = (): void => {};
    const turn: InFlightCall = { op, ended: new Promise((resolve) => (finish = resolve)) };
    if (!this.running.has(key)) this.running.set(key, turn);
    return () => {
      if (this.running.get(key) === turn) this.running.delete(key);
      finish();
    };
  }

  private awaited(key: CallKey, op: OpPath): InFlightCall | undefined {
    const turn = this.running.get(key);
    return turn && !this.needs(turn, op, new Set()) ? turn : undefined;
  }

  /** The turn can't end before the operation does: it is around it, or something inside the turn waits for one that is. */
  private needs(turn: InFlightCall, op: OpPath, seen: Set<InFlightCall>): boolean {
    if (isInside(op, turn.op)) return true;
    if (seen.has(turn)) return false;
    seen.add(turn);
    for (const wait of this.waits) if (isInside(wait.op, turn.op) && this.needs(wait.turn, op, seen)) return true;
    return false;
  }
}

export function isInside(op: OpPath, around: OpPath): boolean {
  return op.startsWith(around) && (op[around.length] === '/' || op[around.length] === '[');
}
