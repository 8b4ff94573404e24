/**
 * Finds where the time of an attempt was over in the record of its run: by the first outcome that came because of it. What ends a stage
 * has no event of its own, and the attempts that a parallel node cut off in its branches have no end.
 */
import type { OpPath } from '../../journal/ids.js';
import { isInside } from '../fold/op-path.js';
import type { RecordedWalk } from './recorded-walk.js';
import type { Recording } from './recorded-world.js';

interface Span {
  readonly op: OpPath;
  /** The number of the event that ended it. */
  readonly end: number;
}

/** Undefined where nothing came that a replay waits for, as in a stage that waits for a person. */
export function endOfTime(walk: RecordedWalk, recording: Recording, attempt: Span): number | undefined {
  const start = walk.begun.get(attempt.op) ?? -1;
  const isMeanwhile = (seq: number): boolean => seq > start && seq < attempt.end;
  const fan = attempt.op.slice(0, attempt.op.lastIndexOf('/'));
  const isBranch = (op: OpPath): boolean => op.startsWith(`${fan}[`) && !op.includes('/', fan.length);
  const cut = walk.cutBranches.filter(({ op, seq }) => isBranch(op) && isMeanwhile(seq));
  if (cut.length === 0) return outcomeIn(recording, attempt, start);
  const ends = cut.map(({ op, seq }) => endOfBranch(walk, recording, { op, end: seq }, start));
  return ends.reduce((first, end) => (first === undefined || (end !== undefined && end < first) ? end : first), undefined);
}

/**
 * Returns the outcome of the attempt that the branch was in, or of the visit behind which it started no other. A branch that had not
 * visited any node began behind another branch, or with the attempt.
 */
function endOfBranch(walk: RecordedWalk, recording: Recording, branch: Span, start: number): number | undefined {
  const isDirect = (op: OpPath): boolean => isInside(op, branch.op) && !op.slice(branch.op.length).includes('[');
  for (const [op, seq] of walk.begun) {
    const hasEnded = (walk.ends.get(op)?.seq ?? branch.end) < branch.end;
    if (seq > start && seq < branch.end && !hasEnded && isDirect(op)) return endOfTime(walk, recording, { op, end: branch.end });
  }
  const fan = branch.op.slice(0, branch.op.lastIndexOf('[') + 1);
  let own: number | undefined;
  let other = start;
  for (const { type, op, seq } of walk.ends.values()) {
    if (type !== 'node.finished' || seq < start || seq > branch.end || !op.startsWith(fan)) continue;
    if (isDirect(op)) own = Math.max(own ?? seq, seq);
    else other = Math.max(other, seq);
  }
  return own ?? other;
}

/** Returns the first effect that was interrupted, else the last one, else the first failure of a call. */
function outcomeIn({ effects, calls, failedAttempts }: Recording, attempt: Span, start: number): number | undefined {
  const isOf = (op: OpPath, seq: number): boolean => isInside(op, attempt.op) && seq > start && seq < attempt.end;
  let interrupted: number | undefined;
  let last: number | undefined;
  for (const [op, recorded] of effects) {
    for (const { seq, holds } of recorded) {
      if (!isOf(op, seq)) continue;
      if (holds === 'interrupted' && seq < (interrupted ?? Infinity)) interrupted = seq;
      if (seq > (last ?? -1)) last = seq;
    }
  }
  if (interrupted !== undefined || last !== undefined) return interrupted ?? last;
  let failed: number | undefined;
  const failures = [...calls.values()].flatMap(({ op, failed: end }) => (end ? [{ op, seq: end.seq }] : []));
  const earlier = [...failedAttempts].flatMap(([op, ends]) => ends.map(({ seq }) => ({ op, seq })));
  for (const { op, seq } of [...failures, ...earlier]) if (isOf(op, seq) && seq < (failed ?? Infinity)) failed = seq;
  return failed;
}
