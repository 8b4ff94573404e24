/** The outside as commands see it: `main.ts` makes it from `process`, a test from three arrays. */

export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGPIPE';

export interface Io {
  /** The words behind `mlld`. */
  readonly argv: readonly string[];
  readonly environment: { readonly [name: string]: string | undefined };
  readonly workingDirectory: string;
  /** Writes reports, with control characters written out also outside a terminal (`render/terminal-text.ts`). */
  readonly stdout: (text: string) => void;
  /** Writes the output of a script, which is data: unchanged into a pipe or a file, on a terminal as harmless as a report. */
  readonly document: (text: string) => void;
  /** Writes messages and the log of a script, as harmless as a report. */
  readonly stderr: (text: string) => void;
  /** Draws on the terminal behind stderr, control sequences included; missing where stderr is not a terminal. Only for text of our own. */
  readonly draw?: (text: string) => void;
  /** True when stdout and stderr go to one terminal, file or pipe. */
  readonly oneOutput: boolean;
  /** Reads all of standard input; undefined when it is empty or a terminal. */
  readonly stdin: () => Promise<string | undefined>;
  /** Standard input and output as they are, for a protocol that another program speaks there. */
  readonly streams: () => { readonly input: NodeJS.ReadableStream; readonly output: NodeJS.WritableStream };
  /** Reads one line of standard input, undefined at its end; missing where it is not a terminal. */
  readonly readLine?: (signal: AbortSignal) => Promise<string | undefined>;
  /** Width of the terminal behind stderr, in characters. */
  readonly columns: () => number;
  /** Width of the terminal behind stdout; undefined without one, and then lines stay whole. */
  readonly stdoutColumns: () => number | undefined;
  /** Tells a pager the height of the terminal behind stdout, and the text as `stdout` would write it. Missing without a terminal. */
  readonly page?: {
    readonly rows: () => number;
    readonly harmless: (text: string) => string;
    /** Leaves Ctrl-C to the pager until the function that it returns is called: ending this process would leave the terminal to nobody. */
    readonly leaveInterrupts: () => () => void;
  };
  /** True where colours are wanted. */
  readonly colours: { readonly stdout: boolean; readonly stderr: boolean };
  /** A clock for durations. */
  readonly nowMs: () => number;
  /** Milliseconds since 1970. */
  readonly todayMs: () => number;
  /** This process and its versions, for the journal. */
  readonly program: { readonly pid: number; readonly versions: { readonly mlld: string; readonly node: string } };
  /**
   * Calls `listener` at the first signal to end; a second one ends the process at once. SIGPIPE means that the reader of standard output
   * is gone. An error of the script's code that nothing awaits comes as SIGTERM, and is `stray`, in an array of one. Returns the function
   * that stops listening.
   */
  readonly onSignal: (listener: (signal: Signal, stray?: readonly [unknown]) => void) => () => void;
}
