/**
 * Where the facts of a run go.
 *
 * W1  Facts reach the journal in the order in which they are handed over, and followers see them in that order, as they stand there.
 * W2  A journal that can't be written is told of once; the run goes on and is not recorded any further.
 * W3  No text that the run knows to be secret gets past this place.
 */
import type { Fact, JournalEvent } from '../../journal/event.js';
import type { Journal, Position, Recorded } from '../../journal/store.js';
import { eventOf } from '../../replay/projection.js';
import type { Recorder } from '../operation/operation.js';
import type { SecretTexts } from '../operation/secret-texts.js';
import { conceal } from './conceal.js';

export type Follower = (event: JournalEvent, position: Position) => void;

export interface RunRecorder extends Recorder {
  close(): Promise<void>;
}

export const NO_RECORDER: RunRecorder = { on: false, post: () => {}, append: async () => undefined, close: async () => {} };

interface RecorderPorts {
  readonly secrets: SecretTexts;
  readonly followers: readonly Follower[];
  readonly onTrouble: (error: Error) => void;
}

export function createRecorder(journal: Journal, { secrets, followers, onTrouble }: RecorderPorts): RunRecorder {
  let broken = false;
  const trouble = (error: unknown): undefined => {
    if (!broken) onTrouble(error instanceof Error ? error : new Error(String(error)));
    broken = true;
    return undefined;
  };
  const follow = (fact: Fact, recorded: Recorded): void => {
    const event = eventOf(fact, recorded.seq, recorded.ts);
    for (let i = 0; i < followers.length; i++) followers[i]?.(event, recorded.position);
  };
  return {
    on: true,
    post(given) {
      if (broken) return;
      const fact = conceal(given, secrets);
      follow(fact, journal.post(fact));
    },
    async append(given) {
      if (broken) return undefined;
      try {
        const fact = conceal(given, secrets);
        return await journal.append(fact, (recorded) => follow(fact, recorded));
      } catch (error) {
        return trouble(error);
      }
    },
    async close() {
      await journal.close().catch(trouble);
    },
  };
}
