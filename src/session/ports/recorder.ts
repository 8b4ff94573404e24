/**
 * Where the facts of a run go.
 *
 * W1  Facts reach the journal in the order in which they are handed over, and followers see them in that order, as they stand there.
 * W2  A journal that can't be written is waited for; one that has given up is reported once. What is said after that is handed over all
 *     the same, because the end of the run tries once more, but followers don't see it: it may never be recorded.
 * W3  No text that the run knows to be secret gets past this place, and none is cut before.
 */
import { JournalError } from '../../../journal/errors.js';
import type { Fact, JournalEvent } from '../../../journal/event.js';
import type { Journal, Position, Recorded } from '../../../journal/store.js';
import { eventOf } from '../../../replay/fold/projection.js';
import type { Recorder } from '../../runtime/recorder.js';
import type { SecretRegistry } from '../../runtime/secret-registry.js';
import { bounded } from './bounded-facts.js';
import { conceal } from './conceal.js';

export type Follower = (event: JournalEvent, position: Position) => void;

export interface RunRecorder extends Recorder {
  /** What became of the journal: `lost`, it has given up and what it kept is gone; `regained`, that was written at the end. */
  close(): Promise<'kept' | 'regained' | 'lost'>;
}

export const NO_RECORDER: RunRecorder = { on: false, post: () => {}, append: async () => undefined, close: async () => 'kept' };

interface RecorderPorts {
  readonly secrets: SecretRegistry;
  readonly followers: readonly Follower[];
  /** The journal has given up, or a fact can't be recorded. */
  readonly onTrouble: (error: Error) => void;
}

/** It costs the fact that can't be a line, and nothing else. */
export function isOfOneFact(error: unknown): boolean {
  return error instanceof JournalError && (error.code === 'NOT_JSON' || error.code === 'JOURNAL_EVENT_TOO_LARGE');
}

export function createRecorder(journal: Journal, { secrets, followers, onTrouble }: RecorderPorts): RunRecorder {
  let broken = false;
  const trouble = (error: unknown): undefined => {
    if (!broken) onTrouble(error instanceof Error ? error : new Error(String(error)));
    broken ||= !isOfOneFact(error);
    return undefined;
  };
  const follow = (fact: Fact, recorded: Recorded): void => {
    const event = eventOf(fact, recorded.seq, recorded.ts, recorded.hash);
    for (let i = 0; i < followers.length; i++) followers[i]?.(event, recorded.position);
  };
  return {
    on: true,
    post(given) {
      const fact = bounded(conceal(given, secrets));
      const recorded = journal.post(fact);
      if (!broken) follow(fact, recorded);
    },
    async append(given) {
      try {
        const fact = bounded(conceal(given, secrets));
        return await journal.append(fact, (recorded) => follow(fact, recorded));
      } catch (error) {
        return trouble(error);
      }
    },
    async close() {
      const wasBroken = broken;
      try {
        await journal.close();
        return wasBroken ? 'regained' : 'kept';
      } catch (error) {
        trouble(error);
        return 'lost';
      }
    },
  };
}
