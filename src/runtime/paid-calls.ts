/**
 * Ends a run before it pays for what can't be recorded. Reference: language on calls, section 14.3.
 *
 * PAID-1 Once the journal is lost no further call begins. The branch that makes one waits.
 * PAID-2 Calls that have begun end, and what they came to is seen. When only such are left as wait for a call inside them that may not
 *    begin, the run is paused: then no statement starts.
 */
import type { OpPath } from '../../journal/ids.js';
import { MlldError } from '../errors.js';
import { isInside } from './in-flight-calls.js';

export class PaidCalls {
  private readonly running = new Set<OpPath>();
  private isWanted = false;
  private endWait: () => void = () => {};
  private readonly paused = new Promise<void>((resolve) => (this.endWait = resolve));
  private why: Error | undefined;

  /** `pause` ends the run. */
  constructor(private readonly pause: () => void) {}

  /** Why no call may begin; undefined: they may. */
  get stoppedBy(): Error | undefined {
    return this.why;
  }

  stop(because: Error): void {
    this.why ??= because;
  }

  /** A call begins that is recorded, or need not be; gives what is to be called at its end. */
  begin(op: OpPath): () => void {
    this.running.add(op);
    return () => {
      this.running.delete(op);
      this.pauseIfIdle();
    };
  }

  /** To be awaited before a call that could not be recorded: rejects with INTERRUPTED when the run is paused. */
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
