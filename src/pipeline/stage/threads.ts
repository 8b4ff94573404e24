/**
 * Keeps the conversations that model stages share under `full`. They live in the process: a resume has lost them. graph-pipelines.md 9.3 to
 * 9.5.
 */
import type { OpPath } from '../../../journal/ids.js';

export interface Turn {
  readonly prompt: string;
  readonly reply: string;
  /** The program that keeps the conversation up to this turn. Absent for a turn whose reply was reused: what the program has is unknown. */
  readonly kept?: { readonly by: string; readonly session: string };
}

export interface Conversation {
  /** Oldest first. */
  readonly turns: readonly Turn[];
  /** Counts the older turns that were dropped because the whole conversation would not fit into the window of a model. */
  readonly omittedTurns: number;
}

export interface Threads {
  /** Undefined when the thread has had no turn in this process. */
  conversation(key: string): Conversation | undefined;
  /** True when there were turns in this thread which are not known any more. */
  isLost(key: string): boolean;
  /** Counts the thread as lost: one of its stages has spoken outside of it. */
  lose(key: string): void;
  /** Runs `speak` when no other stage of the thread is speaking. */
  exclusive<T>(key: string, speak: (add: (turn: Turn) => void) => Promise<T>): Promise<T>;
}

/** The order in which branches speak in a thread that they share. */
export interface BranchTurns {
  /** The branch is at the node of the parallel node `of`, or about to arrive there. */
  arrive(branch: OpPath, place: { readonly of: string; readonly node: string }): void;
  /** The branch has ended, or will not begin. */
  leave(branch: OpPath): void;
  /** Resolves when it is the turn of the stage with this attempt. Rejects when `signal` is aborted before that. */
  next(thread: string, attempt: OpPath, signal: AbortSignal): Promise<void>;
}

/** 150,000 tokens of four characters: close to the window of current models, with room for a reply. */
const WINDOW_UNITS = 600_000;
/** A conversation that grew too long is cut to half, not to the limit, so that its beginning then stays the same for many turns. */
const KEPT_UNITS = WINDOW_UNITS / 2;

/** @param lost keys of the threads in which the resumed runs had turns; their conversations are gone */
export function createThreads(lost: ReadonlySet<string>): Threads {
  const before = new Set(lost);
  const threads = new Map<string, Conversation>();
  const last = new Map<string, Promise<unknown>>();
  return {
    conversation: (key) => threads.get(key),
    isLost: (key) => before.has(key),
    lose: (key) => void before.add(key),
    exclusive(key, speak) {
      const add = (turn: Turn): void => {
        const { turns, omittedTurns } = threads.get(key) ?? { turns: [], omittedTurns: 0 };
        threads.set(key, compacted({ turns: [...turns, turn], omittedTurns }));
      };
      const mine = (last.get(key) ?? Promise.resolve()).then(() => speak(add));
      last.set(
        key,
        mine.catch(() => undefined), // a failed stage does not fail the next one of its thread
      );
      return mine;
    },
  };
}

/** Keeps the last turn, however long it is. */
function compacted({ turns, omittedTurns }: Conversation): Conversation {
  const units = turns.map(({ prompt, reply }) => prompt.length + reply.length);
  let sum = units.reduce((all, each) => all + each, 0);
  if (sum <= WINDOW_UNITS) return { turns, omittedTurns };
  let first = 0;
  for (; sum > KEPT_UNITS && first < turns.length - 1; first++) sum -= units[first] as number; // first < turns.length
  return { turns: turns.slice(first), omittedTurns: omittedTurns + first };
}
