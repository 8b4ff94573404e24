/**
 * Knows what the commands of a run of this process have written since they started. It is in memory alone: the result of a command is
 * recorded at its end, and then its output here is gone.
 */
import type { OutputReader, OutputSoFar, WatchOutput } from '../api/pipeline-runs.js';

/** The most commands that are shown. */
const SHOWN_MAX = 20;

export interface CommandOutput extends OutputSoFar {
  /** The path of the operation that runs the command. */
  readonly op: string;
}

export interface LiveOutputs {
  readonly watch: WatchOutput;
  /** Returns the commands in flight, those that started last first. */
  read(): readonly CommandOutput[];
}

export function createLiveOutputs(): LiveOutputs {
  const running = new Set<{ readonly op: string; readonly output: OutputReader }>();
  return {
    watch(op, output) {
      const command = { op, output };
      running.add(command);
      return () => void running.delete(command);
    },
    read: () =>
      [...running]
        .slice(-SHOWN_MAX)
        .toReversed()
        .map(({ op, output }) => ({ op, ...output.read() })),
  };
}
