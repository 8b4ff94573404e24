/**
 * Interrupts code that keeps the thread busy, which timers and the handler of a Ctrl-C can't do: they wait for the thread like everything
 * else. The engine can interrupt a script from outside, but each thing that it watches for costs 0.1 ms, twenty times what a small body
 * does. So a body is watched when it is called first, when an endless loop mostly shows, and from then on as long as it is slow. A call
 * with a deadline of its own, which hooks have, is always watched for that.
 *
 * A body is not watched after its first `await`, nor when it was fast and gets slow later; and no other signal than SIGINT interrupts.
 *
 * INTERRUPTIBLE-1 Node removes the listeners of SIGINT while it watches, and a signal that it had not delivered to them yet is lost. So
 *    a watched call begins in a turn of the event loop of its own, which delivers what came before. Where Node changes over, for less
 *    than a millisecond, a signal ends the process at once, and in the last 0.1 ms of a watched call it is lost: Node ends the watch
 *    before its thread has passed the signal on. A second Ctrl-C interrupts the run then.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Script } from 'node:vm';
import { monotonicMs } from '../stopwatch.js';
import { type Deadline, WorldError } from '../world.js';

/** A body that takes longer is watched at its next call too, when the cost no longer counts. */
const SLOW_MS = 20;
const CALLED = 'mlld.watched';
/** A timer of the engine may be early by less than this. */
const EARLY_MS = 1;
/** The longest timeout that the engine accepts. */
const TIMEOUT_MS_MAX = 2 ** 32 - 1;

let turns: Promise<unknown> = Promise.resolve();

/**
 * Resolves when the signals that came until now were delivered, in another turn of the event loop for each caller. INTERRUPTIBLE-1. Takes
 * two turns, because the first may be the rest of one that has looked for signals already.
 */
export function signalsDelivered(): Promise<unknown> {
  return (turns = turns.then(() => nextTurn()).then(() => nextTurn()));
}

/** Watches the calls of one body. */
export class Watch {
  /** True when calls are watched for everything; otherwise only for a deadline of the call's own. */
  isOn = true;

  /** Throws INTERRUPTED when the user or one of the deadlines ends it. */
  call(run: () => unknown, deadlines: readonly Deadline[]): unknown {
    const startedMs = monotonicMs();
    try {
      return watched(run, deadlines, this.isOn);
    } finally {
      this.isOn = monotonicMs() - startedMs >= SLOW_MS;
    }
  }
}

function watched(run: () => unknown, deadlines: readonly Deadline[], breakOnSigint: boolean): unknown {
  const name = Symbol.for(CALLED);
  const nearest = nearestOf(deadlines);
  Reflect.set(globalThis, name, run); // a script can reach nothing but globals
  try {
    return new Script(`globalThis[Symbol.for(${JSON.stringify(CALLED)})]()`).runInThisContext({
      breakOnSigint,
      displayErrors: false,
      ...(nearest && timeoutFor(nearest.leftMs())),
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' && nearest) {
      nearest.expire(); // the timer of its owner could not fire yet
      throw new WorldError('INTERRUPTED', 'interrupted: its time limit has passed');
    }
    if (code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw error;
    // Listeners did not receive the signal. Without any it would have ended the process.
    if (!process.emit('SIGINT', 'SIGINT')) process.kill(process.pid, 'SIGINT');
    throw new WorldError('INTERRUPTED', 'interrupted: SIGINT');
  } finally {
    Reflect.deleteProperty(globalThis, name);
  }
}

function nearestOf(deadlines: readonly Deadline[]): Deadline | undefined {
  return deadlines.reduce<Deadline | undefined>((near, next) => (near && near.leftMs() <= next.leftMs() ? near : next), undefined);
}

function timeoutFor(leftMs: number): { timeout?: number } {
  return leftMs > TIMEOUT_MS_MAX - EARLY_MS ? {} : { timeout: Math.max(1, Math.ceil(leftMs) + EARLY_MS) };
}
