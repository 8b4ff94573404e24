/** Lets a run use the process that it runs in, where the program that uses the library passes nothing else. */
import { monotonicMs } from './stopwatch.js';

export interface HostDefaults {
  readonly workingDirectory: string;
  readonly environment: { readonly [name: string]: string | undefined };
  readonly io: {
    readonly stdin: () => Promise<undefined>;
    readonly stdout: (text: string) => void;
    readonly stderr: (text: string) => void;
    readonly nowMs: () => number;
    readonly monotonicMs: () => number;
  };
}

export function hostDefaults(): HostDefaults {
  return {
    workingDirectory: process.cwd(),
    environment: process.env,
    io: {
      // Standard input belongs to the program, which passes it to a script that needs it.
      stdin: async () => undefined,
      stdout: (text) => void process.stdout.write(text),
      stderr: (text) => void process.stderr.write(text),
      nowMs: () => Date.now(),
      monotonicMs,
    },
  };
}
