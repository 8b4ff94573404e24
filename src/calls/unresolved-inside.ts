/** Counts the calls inside one call that failed, and without whose results its body goes on. calls.md 14.1. */
import type { CallKey, OpPath } from '../../journal/ids.js';
import { areSideBySide } from '../../journal/facts/side-by-side.js';

interface Unresolved {
  readonly op: OpPath;
  readonly calls: number;
}

export class UnresolvedInside {
  private readonly byKey = new Map<CallKey, readonly Unresolved[]>();

  /** `calls`: 1 for a call that failed; for one whose result is reused, as many as its body had gone on without. */
  add(key: CallKey, op: OpPath, calls: number): void {
    this.resolve(key, op); // it was made again, and has failed again
    this.byKey.set(key, [...(this.byKey.get(key) ?? []), { op, calls }]);
  }

  /** The call was made again: those of its key that are not beside it have what it got. */
  resolve(key: CallKey, op: OpPath): void {
    const left = this.byKey.get(key)?.filter((each) => areSideBySide(each.op, op));
    if (left !== undefined) this.byKey.set(key, left);
  }

  get count(): number {
    let count = 0;
    for (const each of this.byKey.values()) for (const { calls } of each) count += calls;
    return count;
  }
}
