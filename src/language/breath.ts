/** Loops that never wait for anything must not keep timers and signals waiting, nor go on in a run that has to end. */
import { MlldError } from '../errors.js';

/** Of all loops of a run together: small loops inside each other are a large one. */
const TURNS_BETWEEN_BREATHS = 256;

export class Breath {
  private turns = 0;

  constructor(private readonly ending: AbortSignal) {}

  /** To be called in every turn of a loop, and waited for unless it is undefined, which it is mostly. Rejects with INTERRUPTED. */
  afterTurn(): Promise<void> | undefined {
    this.turns++;
    return this.turns % TURNS_BETWEEN_BREATHS === 0 ? this.breathe() : undefined;
  }

  private async breathe(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.ending.aborted) throw new MlldError('INTERRUPTED', 'The run was ended');
  }
}
