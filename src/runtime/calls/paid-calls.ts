/**
 * Ends a run before it pays for a call that can't be recorded.
 *
 * PAID-1 Once the journal is lost no further call starts. The branch that makes one waits.
 * PAID-2 Calls that have started end, and their results are used. When the only ones left wait for a call inside them that may not start,
 *    the run is paused: then no statement starts.
 */
import type { OpPath } from '../../../journal/ids.js';
import { MlldError } from '../../errors.js';
import { isInside } from './in-flight-calls.js';

export class PaidCalls {
  private readonly running = new Set<OpPath>();
  private isWanted = false;
  private endWait: () => void = () => {};
  private readonly paused = new Promise<void>((resolve) => (this.endWait = resolve));
  private reason: Error | undefined;

  /** `pause` ends the run. */
  constructor(private readonly pause: () => void) {}

  /** The reason that no call may start; undefined while calls may. */
  get stoppedBy(): Error | undefined {
    return this.reason;
  }

  stop(because: Error): void {
    this.reason ??= because;
  }

  /** Counts a call that is recorded, or need not be, as started; returns the function that its end must call. */
  begin(op: OpPath): () => void {
    this.running.add(op);
    return () => {
      this.running.delete(op);
      this.pauseIfIdle();
    };
  }

  /** Must be awaited before a call that could not be recorded: rejects with INTERRUPTED when the run is paused. */
  async refuse(op: OpPath): Promise<never> {
    for (const other of this.running) if (other === op || isInside(op, other)) this.running.delete(other);
    this.isWanted = true;
    this.pauseIfIdle();
    await this.paused;
    throw new MlldError('INTERRUPTED', 'The run was paused');
  }

  private pauseIfIdle(): void {
    if (!this.isWanted || this.running.size > 0) return;
    this.isWanted = false;
    this.pause();
    this.endWait();
  }
}
