/** The attempts whose end stops their lane, or all lanes, and is not recorded yet. */
import type { OpPath } from '../../../journal/ids.js';

export class StoppingAttempts<L> {
  private readonly lanes = new Map<OpPath, L | 'all'>();

  add(op: OpPath, lane: L | 'all'): void {
    this.lanes.set(op, lane);
  }

  delete(op: OpPath): void {
    this.lanes.delete(op);
  }

  close(lane: L): boolean {
    if (this.lanes.size === 0) return false;
    return [...this.lanes.values()].some((closed) => closed === 'all' || closed === lane);
  }
}
