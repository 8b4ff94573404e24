/** Separates the writer of a run from what takes its lines: files (`run-files.ts`), or a database (`../../postgres/run-rows.ts`). */
import type { Unsynced } from '../../lines/unsynced.js';

export interface RunSink {
  /** `write`: the system has a line as soon as it is written. `sync`: nothing outside this process has it before a sync has covered it. */
  readonly survivesFrom: 'write' | 'sync';
  /** An ordered fact waits so long for others, where each write has a price of its own. */
  readonly orderedDelayMs?: number;
  /** The offset in the run up to which it was handed over, durable or not. */
  readonly writtenBytes: number;
  /** Takes whole lines behind those before. Throws what the disk throws; then it has some of them. */
  write(bytes: Uint8Array): void;
  /** Makes durable all that was written before the call. */
  sync(done: (error: Error | null) => void): void;
  /** Must be called after a failed sync: what was written since the last one may be lost. */
  distrust(unsynced: Unsynced): void;
  /** Writes and syncs what isn't durable. Rejects with what keeps it from doing so. */
  recover(unsynced: Unsynced): Promise<void>;
  /** True for an error after which no further try can succeed. */
  isFinal(error: unknown): boolean;
  /** Cuts off what a failed write left behind the last line. */
  cut(): void;
  close(): void;
}
