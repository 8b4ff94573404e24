/** Conversations that model stages share under `full`. They live in the process: a resume has lost them. graph-pipelines.md 9.3 to 9.5. */

export interface Turn {
  readonly prompt: string;
  readonly reply: string;
}

export interface Conversation {
  /** The latest, oldest first. */
  readonly turns: readonly Turn[];
  /** Older turns that are left out, because all together would not fit into the window of a model. */
  readonly leftOut: number;
}

export interface Threads {
  /** Undefined when nobody has spoken in this process. */
  said(key: string): Conversation | undefined;
  /** It was spoken in before this process began. */
  isLost(key: string): boolean;
  /** One stage of a thread at a time: branches that share one take turns. */
  inTurn<T>(key: string, speak: (add: (turn: Turn) => void) => Promise<T>): Promise<T>;
}

/** 150,000 tokens of four characters: near the window of the models of the day, with room for an answer. */
const WINDOW_UNITS = 600_000;
/** What stays of a conversation that has grown too long: not a little less each time, so that its beginning is the same for a while. */
const KEPT_UNITS = WINDOW_UNITS / 2;

/** `lost` are the threads of the runs before, when this one resumes them. */
export function createThreads(lost: ReadonlySet<string>): Threads {
  const before = new Set(lost);
  const threads = new Map<string, Conversation>();
  const last = new Map<string, Promise<unknown>>();
  return {
    said: (key) => threads.get(key),
    isLost: (key) => before.has(key),
    inTurn(key, speak) {
      const add = (turn: Turn): void => {
        const { turns, leftOut } = threads.get(key) ?? { turns: [], leftOut: 0 };
        threads.set(key, compacted({ turns: [...turns, turn], leftOut }));
      };
      const mine = (last.get(key) ?? Promise.resolve()).then(() => speak(add));
      last.set(
        key,
        mine.catch(() => undefined), // whoever comes next isn't concerned
      );
      return mine;
    },
  };
}

/** The last turn stays, however long it is. */
function compacted({ turns, leftOut }: Conversation): Conversation {
  const units = turns.map(({ prompt, reply }) => prompt.length + reply.length);
  let sum = units.reduce((all, each) => all + each, 0);
  if (sum <= WINDOW_UNITS) return { turns, leftOut };
  let first = 0;
  for (; sum > KEPT_UNITS && first < turns.length - 1; first++) sum -= units[first] as number; // first < turns.length
  return { turns: turns.slice(first), leftOut: leftOut + first };
}
