/** The time limit of the body of a hook, and the signal that ends what the body started. */
import { type EffectOptions, type Deadline, WorldError } from '../world/world.js';

export class HookDeadline implements EffectOptions, Deadline {
  private controller: AbortController | undefined;
  private expired = false;

  /** `leftMs` tells that the time is over also while no timer can fire because code of the script blocks the event loop. */
  constructor(readonly leftMs: () => number) {}

  get isOver(): boolean {
    return this.expired || this.leftMs() <= 0;
  }

  get deadline(): Deadline {
    return this;
  }

  /** Made when an effect is performed: most bodies perform none, and a controller costs more than the rest of a firing. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.isOver) this.controller.abort();
    return this.controller.signal;
  }

  expire(): void {
    this.expired = true;
    this.controller?.abort();
  }
}

/** Ends a body that took too long. The operation has continued without it, so that no caller sees this error. */
export function hookTimedOut(): WorldError {
  return new WorldError('INTERRUPTED', 'the time of the hook is over');
}
