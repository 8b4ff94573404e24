/** The only file that touches `process`: it makes an `Io` of it and hands that to the command line. */
import fs from 'node:fs';
import { isatty } from 'node:tty';
import { withoutOwnSecrets } from '../src/world/own-secrets.js';
import { MlldError, stackOf } from '../src/errors.js';
import { VERSION } from '../src/version.js';
import { monotonicMs } from '../src/world/stopwatch.js';
import { runCommandLine } from './command-line.js';
import { TOKEN_VARIABLE } from './command-table/token-variable.js';
import { EXIT_AFTER_SIGNAL, EXIT_FAILED } from './exit-codes.js';
import type { Io } from './terminal/io.js';
import { terminalText, visible } from './render/terminal-text.js';
import { writeAll } from './terminal/write-all.js';

const [STDIN, STDOUT, STDERR] = [0, 1, 2];
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function processIo(): Io {
  const listeners = new Set<Parameters<Io['onSignal']>[0]>();
  let brokenPipe = false;
  const onBrokenPipe = (): void => {
    brokenPipe = true;
    // The reader is gone: without a run to end in order there is nothing left to do.
    if (listeners.size === 0) process.exit(EXIT_AFTER_SIGNAL.SIGPIPE);
    for (const listener of listeners) listener('SIGPIPE');
  };
  const [stdoutIsTerminal, stderrIsTerminal] = [isTerminal(STDOUT), isTerminal(STDERR)];
  const colours = { stdout: wantsColours() && stdoutIsTerminal, stderr: wantsColours() && stderrIsTerminal };
  // Node has nothing left to do and the program is not done: code of the script awaits a promise that nothing settles.
  process.once('beforeExit', () => {
    writeAll(STDERR, 'Error: the script waits for something that will never happen: a promise that nothing settles\n');
    process.exitCode = EXIT_FAILED;
    for (const listener of listeners) listener('SIGTERM');
  });
  // Includes rejected promises that no code awaits.
  process.on('uncaughtException', (error: unknown) => {
    if (listeners.size === 0) {
      io.stderr(`Error: ${stackOf(error)}\n`);
      process.exit(EXIT_FAILED);
    }
    for (const listener of listeners) listener('SIGTERM', [error]);
  });
  const writeOut = (text: string): void => {
    if (brokenPipe) return;
    try {
      writeAll(STDOUT, text);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EPIPE') return onBrokenPipe();
      throw new MlldError('OUTPUT_FAILED', `Standard output can't be written: ${(error as Error).message}`, { cause: error });
    }
  };
  const writeError = (text: string): void => {
    try {
      writeAll(STDERR, text);
    } catch {
      // There is no place left to report it; the run continues.
    }
  };
  const io: Io = {
    argv: process.argv.slice(2),
    environment: takeEnvironment(),
    workingDirectory: workingDirectory(),
    stdout: (text) => writeOut(terminalText(text, { colours: colours.stdout })),
    document: stdoutIsTerminal ? (text) => writeOut(visible(text)) : writeOut,
    stderr: (text) => writeError(terminalText(text, { colours: colours.stderr })),
    ...(stderrIsTerminal ? { draw: writeError } : {}),
    oneOutput: areOne(STDOUT, STDERR),
    stdin: readStdin,
    streams: () => ({ input: process.stdin, output: process.stdout }),
    ...(isTerminal(STDIN) ? { readLine } : {}),
    // A terminal that doesn't know its width says 0.
    columns: () => process.stderr.columns || DEFAULT_COLUMNS,
    stdoutColumns: () => (stdoutIsTerminal ? process.stdout.columns || DEFAULT_COLUMNS : undefined),
    ...(stdoutIsTerminal && isTerminal(STDIN) ? { page: pageOf(colours.stdout) } : {}),
    colours,
    nowMs: monotonicMs,
    todayMs: () => Date.now(),
    program: { pid: process.pid, versions: { mlld: VERSION, node: process.version } },
    onSignal: (listener) => {
      let wasSignalled = false;
      const onSignal = (signal: (typeof SIGNALS)[number]): void => {
        if (wasSignalled) process.exit(EXIT_AFTER_SIGNAL[signal]);
        wasSignalled = true;
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
  return io;
}

function pageOf(colours: boolean): NonNullable<Io['page']> {
  return {
    rows: () => process.stdout.rows || DEFAULT_ROWS,
    harmless: (text) => terminalText(text, { colours }),
    leaveInterrupts: () => {
      const stay = (): void => undefined;
      process.on('SIGINT', stay);
      return () => process.off('SIGINT', stay);
    },
  };
}

/**
 * Removes secrets of our own from the environment of the process, and returns what it was. Code of a script runs in this process: it and
 * the programs that it starts reach that environment past the one that the run hands to them, and what they print is recorded.
 */
function takeEnvironment(): Io['environment'] {
  const environment = { ...process.env };
  const left: Io['environment'] = { ...withoutOwnSecrets(environment), [TOKEN_VARIABLE]: undefined };
  for (const [name, value] of Object.entries(environment)) {
    if (left[name] === undefined) delete process.env[name];
    else if (left[name] !== value) process.env[name] = left[name];
  }
  return environment;
}

/** The folder may have been removed while the shell was in it. */
function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    writeAll(STDERR, `Error: The working directory can't be used: ${(error as Error).message}\n  hint: cd to a folder that is there\n`);
    process.exit(EXIT_FAILED);
  }
}

/** no-color.org: any value but the empty one switches colours off. */
function wantsColours(): boolean {
  const { NO_COLOR: noColour, TERM: terminal } = process.env;
  return (noColour === undefined || noColour === '') && terminal !== 'dumb';
}

/**
 * Looks at the kind of file first, because the module that knows terminals takes time to load. A command without input often has the
 * null device there, which looks like a terminal at first.
 */
function isTerminal(descriptor: number): boolean {
  try {
    const open = fs.fstatSync(descriptor);
    return open.isCharacterDevice() && !isNullDevice(open) && isatty(descriptor);
  } catch {
    return false; // closed
  }
}

/** Returns true when two descriptors lead to the same terminal, file or pipe. */
function areOne(one: number, other: number): boolean {
  try {
    const [left, right] = [fs.fstatSync(one), fs.fstatSync(other)];
    return left.dev === right.dev && left.ino === right.ino;
  } catch {
    return false; // closed
  }
}

function isNullDevice({ rdev }: fs.Stats): boolean {
  return process.platform !== 'win32' && fs.statSync('/dev/null', { throwIfNoEntry: false })?.rdev === rdev;
}

async function readLine(signal: AbortSignal): Promise<string | undefined> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: process.stdin, terminal: false, signal });
  return new Promise((resolve) => {
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('close', () => resolve(undefined));
  });
}

async function readStdin(): Promise<string | undefined> {
  if (process.stdin.isTTY) return undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? undefined : text;
}

void runCommandLine(processIo()).then((status) => {
  // Code of a script may have left timers behind: they are not waited for.
  process.exit(status);
});
