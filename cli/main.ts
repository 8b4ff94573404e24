/** The only file that touches `process`: it makes an `Io` of it and hands that to the command line. */
import { runCommandLine } from './command-line.js';
import { EXIT_AFTER_SIGNAL } from './exit-codes.js';
import type { Io, Signal } from './io.js';

declare const MLLD_VERSION: string;

const DEFAULT_COLUMNS = 80;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function processIo(): Io {
  const listeners = new Set<(signal: Signal) => void>();
  let brokenPipe = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    brokenPipe = true;
    // Nobody reads on: without a run to end in order there is nothing left to do.
    if (listeners.size === 0) process.exit(EXIT_AFTER_SIGNAL.SIGPIPE);
    for (const listener of listeners) listener('SIGPIPE');
  });
  process.stderr.on('error', () => undefined); // Nobody reads the messages; the run goes on.
  return {
    argv: process.argv.slice(2),
    environment: process.env,
    workingDirectory: process.cwd(),
    stdout: (text) => void (brokenPipe || process.stdout.write(text)),
    stderr: (text) => void process.stderr.write(text),
    stdin: readStdin,
    stderrIsTerminal: process.stderr.isTTY,
    columns: () => process.stderr.columns ?? DEFAULT_COLUMNS,
    colours: { stdout: wantsColours(process.stdout), stderr: wantsColours(process.stderr) },
    nowMs: () => performance.now(),
    todayMs: () => Date.now(),
    program: { pid: process.pid, versions: { mlld: MLLD_VERSION, node: process.version } },
    onSignal: (listener) => {
      let asked = false;
      const onSignal = (signal: (typeof SIGNALS)[number]): void => {
        if (asked) process.exit(EXIT_AFTER_SIGNAL[signal]);
        asked = true;
        listener(signal);
      };
      for (const signal of SIGNALS) process.on(signal, onSignal);
      listeners.add(listener);
      return () => {
        for (const signal of SIGNALS) process.off(signal, onSignal);
        listeners.delete(listener);
      };
    },
  };
}

/** no-color.org: any value but the empty one switches colours off. */
function wantsColours(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR: noColour, TERM: terminal } = process.env;
  return stream.isTTY && (noColour === undefined || noColour === '') && terminal !== 'dumb';
}

async function readStdin(): Promise<string | undefined> {
  if (process.stdin.isTTY) return undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? undefined : text;
}

/** Writes to a pipe may still be under way, and code of a script may have left timers behind: drain the one, don't wait for the other. */
async function exit(code: number): Promise<void> {
  await Promise.all([process.stdout, process.stderr].map((stream) => new Promise<void>((resolve) => stream.write('', () => resolve()))));
  process.exit(code);
}

void runCommandLine(processIo()).then(exit);
