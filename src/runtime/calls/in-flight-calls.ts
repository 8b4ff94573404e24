/**
 * The calls that are executed at this moment. An identical call waits for the result of the one in flight, unless that wait could never
 * end: a guard or a hook inside the call makes the same call again, or two calls in flight each make the other one.
 */
import type { CallKey, OpPath } from '../../../journal/ids.js';

/** Most calls are waited for by no other one: the promise is made for the first that does. */
class InFlightCall {
  private ending: Promise<void> | undefined;
  private finish: (() => void) | undefined;

  constructor(readonly op: OpPath) {}

  get ended(): Promise<void> {
    return (this.ending ??= new Promise((resolve) => (this.finish = resolve)));
  }

  end(): void {
    if (this.finish) this.finish();
    else this.ending = ENDED;
  }
}

const ENDED = Promise.resolve();

export class InFlightCalls {
  private readonly running = new Map<CallKey, InFlightCall>();
  private readonly waits = new Set<{ readonly op: OpPath; readonly flight: InFlightCall }>();

  /** Resolves when no call of this key is in flight any more that `op` may wait for; undefined when none is now. */
  wait(key: CallKey, op: OpPath): Promise<void> | undefined {
    return this.isInFlight(key, op) ? this.untilNoneInFlight(key, op) : undefined;
  }

  private async untilNoneInFlight(key: CallKey, op: OpPath): Promise<void> {
    // A loop, because the one in flight may fail and another may already be trying.
    for (let flight = this.awaited(key, op); flight; flight = this.awaited(key, op)) {
      const wait = { op, flight };
      this.waits.add(wait);
      await flight.ended;
      this.waits.delete(wait);
    }
  }

  /** True while a call of this key is in flight that `op` may wait for. */
  isInFlight(key: CallKey, op: OpPath): boolean {
    return this.awaited(key, op) !== undefined;
  }

  /** Returns the function that ends the flight. A call that starts although one of its key is in flight is not waited for. */
  start(key: CallKey, op: OpPath): () => void {
    const flight = new InFlightCall(op);
    if (!this.running.has(key)) this.running.set(key, flight);
    return () => {
      if (this.running.get(key) === flight) this.running.delete(key);
      flight.end();
    };
  }

  private awaited(key: CallKey, op: OpPath): InFlightCall | undefined {
    const flight = this.running.get(key);
    return flight && !this.needs(flight, op, new Set()) ? flight : undefined;
  }

  /** True when the flight can't end before `op` does: it is around `op`, or something inside it waits for a flight that is. */
  private needs(flight: InFlightCall, op: OpPath, seen: Set<InFlightCall>): boolean {
    if (isInside(op, flight.op)) return true;
    if (seen.has(flight)) return false;
    seen.add(flight);
    for (const wait of this.waits) if (isInside(wait.op, flight.op) && this.needs(wait.flight, op, seen)) return true;
    return false;
  }
}

function isInside(op: OpPath, around: OpPath): boolean {
  return op.startsWith(around) && (op[around.length] === '/' || op[around.length] === '[');
}
