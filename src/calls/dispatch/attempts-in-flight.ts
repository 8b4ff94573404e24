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
    for (const other of this.attempts.keys()) if (isInside(op, other)) return true;
    return false;
  }

  ops(): IterableIterator<OpPath> {
    return this.attempts.keys();
  }

  /** Returns those that wait for one of these calls. */
  around(ops: readonly OpPath[]): readonly InFlight<L>[] {
    const found = new Set<InFlight<L>>();
    for (const op of ops) {
      for (const path of pathsAround(op)) {
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

/** Returns the paths of all operations that `op` is inside of. */
function* pathsAround(op: OpPath): Generator<OpPath> {
  for (let end = 1; end < op.length; end++) if (op[end] === '/' || op[end] === '[') yield op.slice(0, end) as OpPath;
}
