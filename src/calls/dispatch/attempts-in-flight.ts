/** Holds the attempts in flight, with their lanes, and tells which of them wait for calls inside them. */
import type { OpPath } from '../../../journal/ids.js';
import type { Start } from '../lanes/lane-limits.js';

interface InFlight<L> {
  readonly lane: L;
  readonly start: Start;
}

export class AttemptsInFlight<L> {
  private readonly attempts = new Map<OpPath, InFlight<L>>();

  add(op: OpPath, lane: L, start: Start): void {
    this.attempts.set(op, { lane, start });
  }

  delete(op: OpPath): void {
    this.attempts.delete(op);
  }

  get size(): number {
    return this.attempts.size;
  }

  every(fits: (op: OpPath) => boolean): boolean {
    for (const op of this.attempts.keys()) if (!fits(op)) return false;
    return true;
  }

  [Symbol.iterator](): IterableIterator<InFlight<L>> {
    return this.attempts.values();
  }

  /** True when one of them waits for this call. */
  isInner(op: OpPath): boolean {
    if (this.attempts.size === 0) return false;
    for (let path = pathAround(op); path !== undefined; path = pathAround(path)) if (this.attempts.has(path)) return true;
    return false;
  }

  ops(): IterableIterator<OpPath> {
    return this.attempts.keys();
  }

  /** Returns those that wait for one of these calls. */
  around(ops: readonly OpPath[]): readonly InFlight<L>[] {
    const found = new Set<InFlight<L>>();
    for (const op of ops) {
      for (let path = pathAround(op); path !== undefined; path = pathAround(path)) {
        const attempt = this.attempts.get(path);
        if (attempt !== undefined) found.add(attempt);
      }
    }
    return [...found];
  }
}

/** True for a call that the body of `around` makes, at any depth. */
export function isInside(op: OpPath, around: OpPath): boolean {
  if (op.length <= around.length) return false; // asked about each attempt in flight, when each call starts
  const next = op[around.length]; // looked at first: the paths of a loop's calls differ at their ends
  return (next === '/' || next === '[') && op.startsWith(around);
}

/** Returns the path of the operation that `op` is inside of: of an iteration `for#0[3]`, its loop `for#0`. Undefined for the run itself. */
function pathAround(op: OpPath): OpPath | undefined {
  const end = op.endsWith(']') ? op.lastIndexOf('[') : op.lastIndexOf('/');
  return end < 0 ? undefined : (op.slice(0, end) as OpPath);
}
