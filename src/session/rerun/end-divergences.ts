/** Compares the end of a replay with the end of the recorded run. */
import type { OpPath } from '../../../journal/ids.js';
import { isWhole, unusedEffects, type RecordedEffect, type Recording } from '../../../replay/recording/recorded-world.js';
import type { Divergence } from './divergence.js';

export interface ReplayEnd {
  readonly code?: string | undefined;
  readonly message?: string;
  /** The node at which the next run begins, after a restart of a pipeline. */
  readonly next?: string | undefined;
}

/** Finds the divergences that show only at the end: a recorded effect was left out, or the run ended in another way. */
export function endDivergences(
  recording: Recording,
  actual: ReplayEnd | undefined,
  isMissed: (effect: RecordedEffect) => boolean = () => true,
): readonly Divergence[] {
  const [left] = unusedEffects(recording).filter(
    (effect) => effect.kind !== 'clock.sleep' && effect.holds !== 'interrupted' && isMissed(effect),
  );
  if (left) return [{ reason: 'missing', op: left.op, kind: left.kind, expected: { seq: left.seq, subject: left.subject } }];
  if (!isWhole(recording)) return [];
  const { error, next } = recording.finished ?? {};
  const expected: ReplayEnd = { ...error, next };
  if (expected.code === actual?.code && next === actual?.next) return [];
  return [
    {
      reason: 'ending',
      op: 'main' as OpPath,
      kind: 'run',
      expected: { seq: recording.last, subject: describeEnd(expected) },
      actual: { subject: describeEnd(actual) },
    },
  ];
}

function describeEnd({ code, message, next }: ReplayEnd = {}): string {
  if (code !== undefined) return `${code}: ${message}`;
  return next === undefined ? 'completed' : `restarted at ${next}`;
}
