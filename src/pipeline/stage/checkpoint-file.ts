/**
 * Keeps `checkpoint.json` close to the state. graph-pipelines.md 10.2.
 *
 * CHECKPOINT-FILE-1 A reader sees a whole file: temporary file, sync, rename.
 * CHECKPOINT-FILE-2 At most one write is in flight; the next write covers what changes meanwhile.
 * CHECKPOINT-FILE-3 Writing takes a small part of the time: the file grows with the history, and a long run must not spend its time on it.
 * CHECKPOINT-FILE-4 The file is never ahead of the journal: what it contains is with the kernel before the rename.
 * CHECKPOINT-FILE-5 When another process has taken the run, the file shows what that one does, and is not written here any more.
 */
import type { World } from '../../world/world.js';

export interface CheckpointFile {
  /** Notes that the state has changed; the file follows when it may be written again. */
  update(): void;
  /** Resolves when the file holds the present state. */
  flush(): Promise<void>;
}

/** The pause after a write is this multiple of the write's duration. */
const PAUSE_FACTOR = 9;

export interface CheckpointFileOptions {
  readonly path: string;
  readonly world: World;
  /** Returns the text of the present state. */
  readonly render: () => string;
  /** Resolves when what was recorded so far survives the end of the process. */
  readonly recorded: () => Promise<void>;
  /** Asked when what was recorded so far is durable, or was refused. */
  readonly isTaken: () => boolean;
  readonly monotonicMs: () => number;
  readonly onTrouble: (error: unknown) => void;
  /** Notifies an observer of each write; nothing is recorded. */
  readonly onWritten?: (() => void) | undefined;
}

export function createCheckpointFile({
  path,
  world,
  render,
  recorded,
  isTaken,
  monotonicMs,
  onTrouble,
  onWritten,
}: CheckpointFileOptions): CheckpointFile {
  let isStale = false;
  let writing: Promise<void> | undefined;
  let restedMs = 0;

  async function write(): Promise<void> {
    const startedMs = monotonicMs();
    isStale = false;
    try {
      const text = render();
      await recorded(); // CHECKPOINT-FILE-4
      if (isTaken()) return; // CHECKPOINT-FILE-5
      await world.perform('file.write', { path, text, durable: true }); // CHECKPOINT-FILE-1
      onWritten?.();
    } catch (error) {
      onTrouble(error);
    }
    restedMs = monotonicMs() + (monotonicMs() - startedMs) * PAUSE_FACTOR; // CHECKPOINT-FILE-3
  }

  function start(): Promise<void> {
    writing = write().finally(() => (writing = undefined)); // CHECKPOINT-FILE-2
    return writing;
  }

  return {
    update() {
      isStale = true;
      if (!writing && monotonicMs() >= restedMs) void start();
    },
    async flush() {
      isStale = true;
      while (isStale) await (writing ?? start());
    },
  };
}
