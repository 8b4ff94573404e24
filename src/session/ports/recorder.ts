/**
 * Passes the facts of a run to its journal and to those who follow it.
 *
 * RECORDER-1  Facts reach the journal in the order in which they are recorded; followers see them in that order, as the journal has them.
 * RECORDER-2  A journal that can't be written is waited for; one that has given up is reported once. Later facts are passed on to it,
 *             because the end of the run tries to write once more, but followers don't see them: they may never be recorded.
 * RECORDER-3  No text that the run knows to be secret gets past the recorder, and no text is cut before secrets are removed.
 * RECORDER-4  Facts that followers don't see, and those of calls of which nothing is recorded, are counted all the same: they happened.
 *             A start that the journal refused is counted, too, until the attempt that never began withdraws it.
 */
import { JournalError } from '../../../journal/errors.js';
import type { Fact, JournalEvent } from '../../../journal/event.js';
import type { Journal, Position, Recorded } from '../../../journal/store.js';
import { eventOf } from '../../../replay/fold/projection.js';
import type { LoopWatch, Recorder, UnrecordedFact } from '../../runtime/recorder.js';
import type { SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import { bounded, WITHOUT_TEXT } from './fit-facts.js';
import { concealFact } from './conceal.js';

export type Follower = (event: JournalEvent, position: Position) => void;

export interface RunRecorder extends Recorder {
  /** Shows the followers a fact that the store itself has appended to the run. */
  followAdded(fact: Fact, recorded: Recorded): void;
  /** As `Recorder.post`; returns whether the followers have seen the fact, which they don't once the journal has given up. */
  post(fact: Fact): boolean;
  /** As `append`, and says before it returns whether the followers have seen the fact. */
  appendFollowed(fact: Fact): { readonly isFollowed: boolean; readonly recorded: Promise<Recorded | undefined> };
  /** Returns whether an `append` has not resolved yet. */
  isWriting(): boolean;
  /**
   * `lost`: the journal has given up, and what it held back is gone. `regained`: that was written at the end. `spilled`: it lies on the
   * disk of this machine, and a later command brings it into the store.
   */
  close(): Promise<'kept' | 'regained' | 'spilled' | 'lost'>;
}

type Count = (fact: Fact | UnrecordedFact) => void;

/** Records nothing, and counts (RECORDER-4). `loops`: the caller watches the run. */
export function unrecordedRecorder(count: Count, loops?: LoopWatch): RunRecorder {
  return {
    on: false,
    followAdded: () => undefined,
    ...(loops && { loops }),
    post(fact) {
      count(fact);
      return false;
    },
    async append(fact) {
      count(fact);
      return undefined;
    },
    appendFollowed(fact) {
      count(fact);
      return { isFollowed: false, recorded: Promise.resolve(undefined) };
    },
    isWriting: () => false,
    count,
    close: async () => 'kept',
  };
}

export const NO_RECORDER: RunRecorder = unrecordedRecorder(() => undefined);

interface RecorderPorts {
  readonly secrets: SecretRegistry;
  readonly followers: readonly Follower[];
  /** Called with the facts that followers don't see (RECORDER-4). */
  readonly count: Count;
  /** Called when the journal has given up, or a fact can't be recorded. */
  readonly onTrouble: (error: Error) => void;
}

/** Only the fact that can't be a line is lost, and nothing else. */
export function isOfOneFact(error: unknown): boolean {
  return error instanceof JournalError && (error.code === 'NOT_JSON' || error.code === 'JOURNAL_EVENT_TOO_LARGE');
}

export function createRecorder(journal: Journal, { secrets, followers, count, onTrouble }: RecorderPorts): RunRecorder {
  let broken = false;
  let unresolved = 0;
  const trouble = (error: unknown): undefined => {
    if (!broken) onTrouble(error instanceof Error ? error : new Error(String(error)));
    broken ||= !isOfOneFact(error);
    return undefined;
  };
  /** RECORDER-3 */
  const asRecorded = (fact: Fact): Fact => (secrets.isEmpty && WITHOUT_TEXT.has(fact.type) ? fact : bounded(concealFact(fact, secrets))); // most facts of a run pass through here
  const follow = (fact: Fact, recorded: Recorded): void => {
    const event = eventOf(fact, recorded.seq, recorded.ts, recorded.hash);
    for (let i = 0; i < followers.length; i++) followers[i]?.(event, recorded.position);
  };
  const resolved = (recorded: Recorded): Recorded => {
    unresolved--;
    return recorded;
  };
  /** `onFollowed` is called before this returns, where it is called at all: `Journal.append` promises as much. */
  function append(original: Fact, onFollowed?: () => void): Promise<Recorded | undefined> {
    let isFollowed = false;
    const failed = (error: unknown): undefined => {
      unresolved--;
      trouble(error);
      if (!isFollowed) count(original);
    };
    unresolved++;
    try {
      const fact = asRecorded(original);
      const appending = journal.append(fact, (recorded) => {
        isFollowed = true;
        follow(fact, recorded);
        onFollowed?.();
      });
      return appending.then(resolved, failed);
    } catch (error) {
      return Promise.resolve(failed(error));
    }
  }
  return {
    on: true,
    followAdded: follow,
    post(original) {
      const fact = asRecorded(original);
      const recorded = journal.post(fact);
      if (broken) count(fact);
      else follow(fact, recorded);
      return !broken;
    },
    isWriting: () => unresolved > 0,
    count,
    append: (original) => append(original),
    appendFollowed(original) {
      let isFollowed = false;
      const recorded = append(original, () => (isFollowed = true));
      return { isFollowed, recorded };
    },
    async close() {
      const wasBroken = broken;
      try {
        await journal.close();
        return wasBroken ? 'regained' : 'kept';
      } catch (error) {
        trouble(error);
        return error instanceof JournalError && error.code === 'STORE_SPILLED' ? 'spilled' : 'lost';
      }
    },
  };
}
