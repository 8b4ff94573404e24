/**
 * Yields to the event loop from loops and recursion that never wait for anything: they must not block timers and signals, nor continue in
 * a run, or in a hook, that has to end.
 */
import { MlldError } from '../errors.js';
import { bodyTimedOut, type BodyDeadline } from './body-deadline.js';

/** Counted over all loops of a run together, because small loops inside each other make a large one. */
const STEPS_BETWEEN_YIELDS = 256;

export class CooperativeYield {
  private steps = 0;
  /** Resolves in the next turn of the event loop; undefined when no caller waits for that. */
  private turn: Promise<void> | undefined;

  constructor(private readonly signal: AbortSignal) {}

  /**
   * Must be called in every iteration of a loop and by every function that may call itself. Returns undefined, mostly, or a promise that
   * must be awaited and that rejects with INTERRUPTED. `deadline`: of the hook in whose body the loop runs. While one caller waits, all
   * others wait with it: the event loop has no turn as long as one of the iterations of a parallel loop goes on.
   */
  step(deadline: BodyDeadline | undefined): Promise<void> | undefined {
    this.steps++;
    return this.turn !== undefined || this.steps % STEPS_BETWEEN_YIELDS === 0 ? this.yield(deadline) : undefined;
  }

  private async yield(deadline: BodyDeadline | undefined): Promise<void> {
    await (this.turn ??= this.nextTurn());
    if (this.signal.aborted) throw new MlldError('INTERRUPTED', 'The run was ended');
    if (deadline?.isOver) throw bodyTimedOut();
  }

  private nextTurn(): Promise<void> {
    return new Promise((resolve) => {
      setImmediate(() => {
        this.turn = undefined;
        resolve();
      });
    });
  }
}
