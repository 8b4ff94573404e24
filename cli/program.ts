/** Commands, their arguments and their help, for commander. `mlld FILE` and `mlld run` parse their own flags: theirs is only the help. */
import { Command, CommanderError } from 'commander';
import { MlldError } from '../src/errors.js';
import { closest } from '../src/values/suggest.js';
import { EXIT_FAILED, EXIT_OK } from './exit-codes.js';
import { addAnswerCommand } from './commands/answer.js';
import { addCheckpointCommand } from './commands/checkpoint.js';
import { addGraphCommand } from './commands/graph.js';
import { addJournalCommand } from './commands/journal/journal.js';
import { addServeCommand } from './commands/serve.js';
import { addValidateCommand } from './commands/validate.js';
import type { Io } from './terminal/io.js';
import { optionsOf, type CommandForm } from './options/option-table.js';
import { examples } from './render/examples.js';

/** Runs a report command, or prints help. */
export async function runProgram(io: Io): Promise<number> {
  try {
    let status = EXIT_OK;
    const words = io.argv.filter((word) => word !== '--debug'); // for the renderer of errors, on every command
    const program = programFor(io, (found = EXIT_FAILED) => (status = found));
    await program.parseAsync(words[0] === 'help' ? helpAbout(program, words.slice(1)) : words, { from: 'user' });
    return status;
  } catch (error) {
    // Commander has printed what it had to say.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_OK : EXIT_FAILED;
    throw error;
  }
}

/** Commander's own `help` looks one level deep, and says nothing of a word that is none. Throws USAGE. */
function helpAbout(program: Command, words: readonly string[]): readonly string[] {
  let command = program;
  for (const word of words) {
    const found = command.commands.find((candidate) => candidate.name() === word || candidate.aliases().includes(word));
    if (found === undefined) {
      const near = closest(
        word,
        command.commands.map((candidate) => candidate.name()),
      );
      throw new MlldError('USAGE', `There is no command "${word}"`, {
        hint: near === undefined ? 'mlld help' : `did you mean ${near}?`,
      });
    }
    command = found;
  }
  return [...words, '--help'];
}

/** Prints the help of a command, or of the whole. */
export function printHelp(io: Io, name?: 'run'): void {
  const program = programFor(io, () => undefined);
  const command = name === undefined ? program : program.commands.find((candidate) => candidate.name() === name);
  (command ?? program).outputHelp();
}

/** `onFailure` is called by a command that did its work and found something wrong; with the exit status where that says more than 1. */
function programFor(io: Io, onFailure: (status?: number) => void): Command {
  const program = new Command('mlld')
    .usage('FILE [options] [--name value ...]\n       mlld -e CODE [options] [--name value ...]\n       mlld COMMAND ...')
    .description(
      'Runs mlld scripts. Flags that are not options of mlld, and all flags after --, become members of @payload; a flag that resembles an option is an error.',
    )
    .exitOverride()
    .showHelpAfterError('(--help says what there is)')
    .configureOutput({ writeOut: io.stdout, writeErr: io.stderr })
    .option('--version', 'print the version')
    .addHelpText(
      'after',
      examples([
        'mlld report.mld --topic tides',
        'mlld -e \'show "hello"\'',
        'cat page.html | mlld digest.mld',
        'mlld run nightly --checkpoint',
      ]),
    );
  addOptions(program, 'file');
  describeRun(program);
  addValidateCommand(program, io, onFailure);
  addCheckpointCommand(program, io);
  addJournalCommand(program, io, onFailure);
  addGraphCommand(program, io);
  addAnswerCommand(program, io);
  addServeCommand(program, io);
  return program;
}

function describeRun(program: Command): void {
  const run = program
    .command('run')
    .usage('[NAME] [options] [--name value ...]')
    .description(
      'run a script of the project by its name, and record the run (reusing nothing, unless asked to); without a name, list them',
    )
    .addHelpText(
      'after',
      examples([
        'mlld run',
        'mlld run nightly --checkpoint --model opus',
        'mlld run nightly -- --mode fast',
        "mlld run nightly --resume '@review'",
        'mlld run nightly --resume "after collecting"',
      ]),
    );
  addOptions(run, 'run');
}

function addOptions(command: Command, form: CommandForm): void {
  for (const { help } of optionsOf(form)) if (help) command.option(...help);
}
