/**
 * Code that keeps the thread busy can't be called off: timers and the handler of a Ctrl-C wait for the thread like everything else. The
 * engine can break into a script from outside, but each thing that it watches for costs 0.1 ms, twenty times what a small body does. So a
 * body is watched when it is called first, where an endless loop mostly shows, and from then on as long as it is slow. Where it has a
 * deadline of its own, which is in hooks, it is always watched for that.
 *
 * What a body does after its first `await` is not watched, nor is one that was fast and gets slow later; and no other signal than SIGINT
 * breaks into anything.
 */
import { Script } from 'node:vm';
import { monotonicMs } from '../stopwatch.js';
import { type Deadline, WorldError } from '../world.js';

/** A body that takes longer stays watched: there the cost no longer counts. */
const SLOW_MS = 20;
const CALLED = 'mlld.watched';
/** A timer of the engine may be early by less than that. */
const EARLY_MS = 1;
/** The longest time that the engine can be told. */
const TIMEOUT_MS_MAX = 2 ** 32 - 1;

/** Of one body. */
export class Watch {
  /** For everything; otherwise only for a deadline of the call's own. */
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
  const place = globalThis as unknown as Record<symbol, unknown>;
  const name = Symbol.for(CALLED);
  const nearest = nearestOf(deadlines);
  place[name] = run; // a script is given nothing but what is global
  try {
    return new Script(`globalThis[Symbol.for(${JSON.stringify(CALLED)})]()`).runInThisContext({
      breakOnSigint,
      displayErrors: false,
      ...(nearest && timeoutFor(nearest.leftMs())),
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' && nearest) {
      nearest.expire(); // the timer of whoever set it has had no turn yet
      throw new WorldError('INTERRUPTED', 'interrupted: its time is over');
    }
    if (code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw error;
    // Those who listened to the signal were not asked. Without any it would have ended the process.
    if (!process.emit('SIGINT', 'SIGINT')) process.kill(process.pid, 'SIGINT');
    throw new WorldError('INTERRUPTED', 'interrupted: SIGINT');
  } finally {
    delete place[name];
  }
}

function nearestOf(deadlines: readonly Deadline[]): Deadline | undefined {
  return deadlines.reduce<Deadline | undefined>((near, next) => (near && near.leftMs() <= next.leftMs() ? near : next), undefined);
}

function timeoutFor(leftMs: number): { timeout?: number } {
  return leftMs > TIMEOUT_MS_MAX - EARLY_MS ? {} : { timeout: Math.max(1, Math.ceil(leftMs) + EARLY_MS) };
}
