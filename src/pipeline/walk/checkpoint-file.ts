/**
 * Keeps `checkpoint.json` near the state. graph-pipelines.md 10.2.
 *
 * K1 A reader sees a whole file: temporary file, sync, rename.
 * K2 At most one write is under way; what happens meanwhile is covered by the next.
 * K3 Writing takes a small part of the time: the file grows with the history, and a long run must not spend its time on it.
 * K4 It is never ahead of the journal: what it tells of is with the kernel before it is renamed.
 */
import type { World } from '../../world/world.js';

export interface CheckpointFile {
  /** The state has changed; the file follows when it can. */
  update(): void;
  /** Resolves when the file holds the state of now. */
  flush(): Promise<void>;
}

/** The pause after a write, as a multiple of its duration. */
const PAUSE_FACTOR = 9;

export interface CheckpointFileOptions {
  readonly path: string;
  readonly world: World;
  /** The state as it is now. */
  readonly render: () => string;
  /** Resolves when what was recorded so far survives the process. */
  readonly recorded: () => Promise<void>;
  readonly monotonicMs: () => number;
  readonly onTrouble: (error: unknown) => void;
  /** An observer's notice; nothing is recorded. */
  readonly onWritten?: (() => void) | undefined;
}

export function createCheckpointFile({
  path,
  world,
  render,
  recorded,
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
      await recorded(); // K4
      await world.perform('file.write', { path, text, durable: true }); // K1
      onWritten?.();
    } catch (error) {
      onTrouble(error);
    }
    restedMs = monotonicMs() + (monotonicMs() - startedMs) * PAUSE_FACTOR; // K3
  }

  function start(): Promise<void> {
    writing = write().finally(() => (writing = undefined)); // K2
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
