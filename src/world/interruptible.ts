/**
 * Code that keeps the thread busy can't be called off: the handler of a Ctrl-C waits for the thread like everything else. The engine can
 * break into a script from outside, but watching for that costs twenty times what a small body does. So a body is watched when it is
 * called first, where an endless loop mostly shows, and from then on as long as it is slow.
 *
 * What a body does after its first `await`, and one that gets slow later, is not watched; nor are other signals than SIGINT.
 */
import { Script } from 'node:vm';
import { WorldError } from './world.js';

/** A body that takes longer stays watched: there the cost no longer counts. */
const SLOW_MS = 20;
const CALLED = 'mlld.watched';

/** Of one body. */
export class Watch {
  /** Otherwise the body is called as it is. */
  isOn = true;

  call(run: () => unknown): unknown {
    const startedMs = performance.now();
    try {
      return watched(run);
    } finally {
      this.isOn = performance.now() - startedMs >= SLOW_MS;
    }
  }
}

function watched(run: () => unknown): unknown {
  const place = globalThis as unknown as Record<symbol, unknown>;
  const name = Symbol.for(CALLED);
  place[name] = run; // a script is given nothing but what is global
  try {
    return new Script(`globalThis[Symbol.for(${JSON.stringify(CALLED)})]()`).runInThisContext({
      breakOnSigint: true,
      displayErrors: false,
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw error;
    // Those who listened to the signal were not asked. Without any it would have ended the process.
    if (!process.emit('SIGINT', 'SIGINT')) process.kill(process.pid, 'SIGINT');
    throw new WorldError('INTERRUPTED', 'interrupted: SIGINT');
  } finally {
    delete place[name];
  }
}
