/**
 * Finds the calls that a run made after it had the result of another one, so that their arguments may be made of it. An iteration can't see
 * what one beside it made: of calls in two iterations of a loop that ran in parallel, none comes after the other one.
 */
import type { OpPath, Seq } from '../../journal/ids.js';
import { parentOf } from '../fold/op-path.js';

interface EndInside {
  /** The operation directly inside in which the call ended. */
  readonly child: OpPath;
  readonly seq: Seq;
}

export interface EndedCalls {
  add(op: OpPath, endedSeq: Seq): void;
  /** Returns whether a call came after one of them that started at this place. */
  isBehind(op: OpPath, startedSeq: Seq): boolean;
}

/** `sideBySide`: the loops whose iterations ran in parallel. */
export function endedCalls(sideBySide: ReadonlySet<OpPath>): EndedCalls {
  /** By the operation around, the first end inside, and the first one in another child than that. */
  const ends = new Map<OpPath, readonly EndInside[]>();
  return {
    add(op, seq) {
      for (let [child, around] = [op, parentOf(op)]; around !== undefined; [child, around] = [around, parentOf(around)]) {
        const [first, ...others] = [...(ends.get(around) ?? []), { child, seq }].sort((left, right) => left.seq - right.seq);
        const other = others.find((each) => each.child !== first?.child);
        ends.set(
          around,
          [first, other].filter((each) => each !== undefined),
        );
      }
    },
    isBehind(op, seq) {
      for (let [child, around] = [op, parentOf(op)]; around !== undefined; [child, around] = [around, parentOf(around)]) {
        if (sideBySide.has(around)) continue;
        const end = ends.get(around)?.find((each) => each.child !== child);
        if (end !== undefined && end.seq < seq) return true;
      }
      return false;
    },
  };
}
