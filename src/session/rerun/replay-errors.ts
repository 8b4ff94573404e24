/** Errors of replays: the run can't be replayed, or never reached the place where it should stop. */
import type { RunRef } from '../../../journal/ids.js';
import type { Recording } from '../../../replay/recording/recorded-world.js';
import { MlldError } from '../../errors.js';
import type { ReplayOptions } from './replay-options.js';

export function replayImpossible({ run }: RunRef, why: string): MlldError {
  return new MlldError('REPLAY_IMPOSSIBLE', `Run ${run} can't be replayed: ${why}`, {
    hint: `mlld journal verify ${run} says what is there`,
  });
}

/** `names` lists the places at which it could stop. */
export function stopNotReached({ run }: RunRef, what: string, names: readonly string[]): MlldError {
  const quoted = names.map((name) => `"${name}"`);
  return new MlldError('REPLAY_STOP', `Run ${run} reached no ${what}`, {
    hint: names.length === 0 ? 'it reached none; --until also takes the number of an event' : `it reached ${quoted.join(', ')}`,
  });
}

/** Returns the number of the event that `until` names; undefined if it names a checkpoint or node. Throws REPLAY_STOP. */
export function numberedStop({ until, ref }: ReplayOptions, { last }: Recording): number | undefined {
  if (!until || !('seq' in until)) return undefined;
  if (until.seq <= last) return until.seq;
  throw new MlldError('REPLAY_STOP', `Run ${ref.run} ends with event ${last}`, { hint: `mlld journal show ${ref.run} numbers the events` });
}
