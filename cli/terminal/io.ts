/** What a command is given of the outside; `main.ts` makes it of `process`, a test of three arrays. */

export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGPIPE';

export interface Io {
  /** Words behind `mlld`. */
  readonly argv: readonly string[];
  readonly environment: { readonly [name: string]: string | undefined };
  readonly workingDirectory: string;
  /** Reports: control characters of texts are written out, whoever reads (`render/terminal-text.ts`). */
  readonly stdout: (text: string) => void;
  /** What a script shows, which is data: unchanged in a pipe or a file, on a terminal as harmless as a report. */
  readonly document: (text: string) => void;
  /** For people: as harmless as a report, also what a script logs. */
  readonly stderr: (text: string) => void;
  /** Draws on the terminal behind stderr, control sequences included; there when it is one. Never given text of anyone else. */
  readonly draw?: (text: string) => void;
  /** Stdout and stderr go to one terminal, file or pipe. */
  readonly oneOutput: boolean;
  /** All of standard input; undefined when it is empty or a terminal. */
  readonly stdin: () => Promise<string | undefined>;
  /** One line of standard input, undefined at its end; there when it is a terminal. */
  readonly readLine?: (signal: AbortSignal) => Promise<string | undefined>;
  /** Width of the terminal behind stderr, in characters. */
  readonly columns: () => number;
  /** Width of the terminal behind stdout; undefined: there is none, and lines are as long as they come. */
  readonly stdoutColumns: () => number | undefined;
  /** Where colours are wanted. */
  readonly colours: { readonly stdout: boolean; readonly stderr: boolean };
  /** A clock for durations. */
  readonly nowMs: () => number;
  /** Milliseconds since 1970. */
  readonly todayMs: () => number;
  /** Who runs, for the journal. */
  readonly program: { readonly pid: number; readonly versions: { readonly mlld: string; readonly node: string } };
  /**
   * Sends the signals that ask the program to end to `listener`, once; a second one ends the process at once. SIGPIPE stands for a
   * reader of standard output that went away. What code of a script throws where nothing waits for it asks like SIGTERM: it is `stray`, in an
   * array of one. Gives back how to stop listening.
   */
  readonly onSignal: (listener: (signal: Signal, stray?: readonly [unknown]) => void) => () => void;
}
