/** Work that may be told to end before it is done: the body of a hook. */
import { type EffectOptions, type Deadline, WorldError } from '../world/world.js';

export class HookDeadline implements EffectOptions, Deadline {
  private controller: AbortController | undefined;
  private over = false;

  /** `leftMs`: by it its time is over also while no timer can say so because code of the script doesn't give way. */
  constructor(readonly leftMs: () => number) {}

  get isOver(): boolean {
    return this.over || this.leftMs() <= 0;
  }

  get deadline(): Deadline {
    return this;
  }

  /** Made when somebody asks the world: most bodies never do, and one costs more than the rest of a firing. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.isOver) this.controller.abort();
    return this.controller.signal;
  }

  expire(): void {
    this.over = true;
    this.controller?.abort();
  }
}

/** In work that took too long: nobody waits for it any more, and it goes no further. */
export function timeIsOver(): WorldError {
  return new WorldError('INTERRUPTED', 'the time of the hook is over');
}
