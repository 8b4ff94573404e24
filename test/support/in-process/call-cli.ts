/**
 * Calls the command line in the process of the test, with an `Io` that is made of arrays. It takes a small part of the time that a process
 * takes to start. A test of signals, terminals, exits or the built program starts one: `cli.ts`.
 */
import { terminalText } from '../../../cli/render/terminal-text.js';
import { runCommandLine } from '../../../cli/command-line.js';
import type { Io } from '../../../cli/terminal/io.js';
import { VERSION } from '../../../src/version.js';
import { monotonicMs } from '../../../src/world/stopwatch.js';
import { environmentOf, type CliOptions, type CliResult } from '../cli.js';

const NO_TERMINAL = { colours: { stdout: false, stderr: false }, columns: () => 80, stdoutColumns: () => undefined };

/** Has the surroundings and the result of `runCli`. */
export async function callCli(argv: readonly string[], options: CliOptions): Promise<CliResult> {
  const { cwd, stdin } = options;
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const io: Io = {
    argv,
    environment: environmentOf(options),
    workingDirectory: cwd,
    stdout: (text) => void stdout.push(terminalText(text, { colours: false })),
    document: (text) => void stdout.push(text),
    stderr: (text) => void stderr.push(terminalText(text, { colours: false })),
    oneOutput: false,
    stdin: () => Promise.resolve(stdin === '' ? undefined : stdin),
    streams: () => {
      throw new Error('a protocol needs a process of its own');
    },
    ...NO_TERMINAL,
    nowMs: monotonicMs,
    todayMs: () => Date.now(),
    program: { pid: process.pid, versions: { mlld: VERSION, node: process.version } },
    onSignal: () => () => undefined,
  };
  const status = await runCommandLine(io);
  return { stdout: stdout.join(''), stderr: stderr.join(''), status };
}
