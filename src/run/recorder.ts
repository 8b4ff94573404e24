/**
 * Where the facts of a run go.
 *
 * W1  Facts reach the journal in the order in which they are handed over.
 * W2  A journal that can't be written is told of once; the run goes on and is not recorded any further.
 */
import type { Fact, JournalEvent } from '../../journal/event.js';
import type { Journal, Position, Recorded } from '../../journal/store.js';
import { eventOf } from '../../replay/projection.js';
import type { Recorder } from '../operation/operation.js';

export type Follower = (event: JournalEvent, position: Position) => void;

export const NO_RECORDER: Recorder = { on: false, post: () => {}, append: async () => undefined };

export interface RunRecorder extends Recorder {
  close(): Promise<void>;
}

export function createRecorder(
  journal: Journal,
  { followers, timestamp, onTrouble }: { followers: readonly Follower[]; timestamp: () => string; onTrouble: (error: Error) => void },
): RunRecorder {
  let broken = false;
  const trouble = (error: unknown): undefined => {
    if (!broken) onTrouble(error instanceof Error ? error : new Error(String(error)));
    broken = true;
    return undefined;
  };
  const follow = (fact: Fact, recorded: Recorded): void => {
    const event = eventOf(fact, recorded.seq, timestamp());
    for (const follower of followers) follower(event, recorded.position);
  };
  return {
    on: true,
    post(fact) {
      if (!broken) follow(fact, journal.post(fact));
    },
    async append(fact) {
      if (broken) return undefined;
      try {
        const recorded = await journal.append(fact);
        follow(fact, recorded);
        return recorded;
      } catch (error) {
        return trouble(error);
      }
    },
    async close() {
      await journal.close().catch(trouble);
    },
  };
}
