/** The time limit of the body of a hook, or of an attempt of a call, and the signal that ends what the body started. */
import { type EffectOptions, type Deadline, WorldError } from '../world/world.js';

export class BodyDeadline implements EffectOptions, Deadline {
  private controller: AbortController | undefined;
  private expired = false;

  /**
   * `ownLeftMs` tells that the time is over also while no timer can fire because code of the script blocks the event loop. `around` is the
   * deadline of the body around, which ends this one too.
   */
  constructor(
    private readonly ownLeftMs: () => number,
    private readonly around?: BodyDeadline,
  ) {}

  leftMs(): number {
    return Math.min(this.ownLeftMs(), this.around?.leftMs() ?? Number.POSITIVE_INFINITY);
  }

  get isOver(): boolean {
    return this.isOwnOver || this.around?.isOver === true;
  }

  /** True when this limit is over, whatever the body around has left. */
  get isOwnOver(): boolean {
    return this.expired || this.ownLeftMs() <= 0;
  }

  get deadline(): Deadline {
    return this;
  }

  /** Made when an effect is performed: most bodies perform none, and a controller costs more than the rest of a firing. */
  get signal(): AbortSignal {
    if (!this.controller) {
      const controller = new AbortController();
      this.controller = controller;
      this.around?.signal.addEventListener('abort', () => controller.abort(), { once: true });
    }
    if (this.isOver) this.controller.abort();
    return this.controller.signal;
  }

  expire(): void {
    this.expired = true;
    this.controller?.abort();
  }
}

/** Ends a body that took too long. The operation has continued without it, so that no caller sees this error. */
export function bodyTimedOut(): WorldError {
  return new WorldError('INTERRUPTED', 'the time limit of the body has passed');
}
