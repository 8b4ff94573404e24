/** Loops and recursion that never wait for anything must not keep timers and signals waiting, nor go on in a run, or a hook, that has to end. */
import { MlldError } from '../errors.js';
import { type HookDeadline, timeIsOver } from './hook-deadline.js';

/** Of all loops of a run together: small loops inside each other are a large one. */
const TURNS_BETWEEN_BREATHS = 256;

export class CooperativeYield {
  private turns = 0;

  constructor(private readonly ending: AbortSignal) {}

  /**
   * To be called in every turn of a loop and by every function that may call itself, and waited for unless it is undefined, which it is
   * mostly. Rejects with INTERRUPTED. `ending`: of the hook in whose body that is.
   */
  afterTurn(ending: HookDeadline | undefined): Promise<void> | undefined {
    this.turns++;
    return this.turns % TURNS_BETWEEN_BREATHS === 0 ? this.breathe(ending) : undefined;
  }

  private async breathe(ending: HookDeadline | undefined): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.ending.aborted) throw new MlldError('INTERRUPTED', 'The run was ended');
    if (ending?.isOver) throw timeIsOver();
  }
}
