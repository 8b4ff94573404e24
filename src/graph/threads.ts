/** Conversations that model stages share under `full`. They live in the process: a resume has lost them. Reference 9.3 to 9.5. */

export interface Turn {
  readonly prompt: string;
  readonly reply: string;
}

export interface Threads {
  /** Undefined when nobody has spoken in this process. */
  turns(key: string): readonly Turn[] | undefined;
  /** It was spoken in before this process began. */
  isLost(key: string): boolean;
  /** One stage of a thread at a time: branches that share one take turns. */
  inTurn<T>(key: string, speak: (add: (turn: Turn) => void) => Promise<T>): Promise<T>;
}

/** `lost` are the threads of the runs before, when this one resumes them. */
export function createThreads(lost: ReadonlySet<string>): Threads {
  const before = new Set(lost);
  const threads = new Map<string, Turn[]>();
  const last = new Map<string, Promise<unknown>>();
  return {
    turns: (key) => threads.get(key),
    isLost: (key) => before.has(key),
    inTurn(key, speak) {
      const add = (turn: Turn): void => {
        const turns = threads.get(key);
        if (turns) turns.push(turn);
        else threads.set(key, [turn]);
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
