/** Which command is meant. What only some commands need is loaded when they are asked for: a script starts without the rest. */
import { EXIT_FAILED } from '../exit-codes.js';
import type { Io } from '../terminal/io.js';

const REPORTS = new Set(['validate', 'analyze', 'checkpoint', 'journal', 'graph', 'answer', 'serve', 'help', '--help', '-h']);
/** Scripts have an extension, mostly. */
const BARE_WORD = /^[a-z]+$/i;

/** Runs one command to its end and gives its exit status. Never throws: what went wrong has been printed. */
export async function runCommandLine(io: Io): Promise<number> {
  try {
    const [first, ...rest] = io.argv;
    if (first === 'run') return await (await import('../commands/run.js')).runCommand(io, rest);
    if (first !== undefined && REPORTS.has(first)) return await (await import('../program.js')).runProgram(io);
    if (first !== undefined && BARE_WORD.test(first))
      await (await import('./misspelt-command.js')).refuseMisspeltCommand(io, ['run', ...REPORTS]);
    return await (await import('../commands/file.js')).fileCommand(io);
  } catch (error) {
    const { renderError } = await import('../render/error.js');
    io.stderr(renderError(error, { debug: io.argv.includes('--debug') }));
    return EXIT_FAILED;
  }
}
