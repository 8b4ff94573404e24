/** Finds the command that is meant and runs it. A command is loaded when it is called, so that a script starts without the others. */
import { COMMAND_NAMES, COMPLETE, isParsedCommand } from './command-table/command-names.js';
import { EXIT_FAILED } from './exit-codes.js';
import type { Io } from './terminal/io.js';

/** Scripts have an extension, mostly. */
const BARE_WORD = /^[a-z]+$/i;

/** Runs one command to its end and returns its exit status. Never throws: errors have been printed by then. */
export async function runCommandLine(io: Io): Promise<number> {
  try {
    const [first, ...rest] = io.argv;
    if (first === 'run') return await (await import('./commands/run.js')).runCommand(io, rest);
    if (first === COMPLETE) return await (await import('./commands/complete.js')).completeCommand(io, rest);
    if (isParsedCommand(first)) return await (await import('./program.js')).runProgram(io);
    if (first !== undefined && BARE_WORD.test(first))
      await (await import('./options/misspelt-command.js')).refuseMisspeltCommand(io, COMMAND_NAMES);
    return await (await import('./commands/file.js')).fileCommand(io);
  } catch (error) {
    const { renderError } = await import('./render/error.js');
    io.stderr(renderError(error, { debug: io.argv.includes('--debug') }));
    return EXIT_FAILED;
  }
}
