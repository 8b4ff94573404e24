// Says which cases the buffered way (`MLLD_NO_STREAM=true`) can tell anything that the streamed way has not told.
//
// The two ways share everything but the last step: each text that is shown goes to standard output at once, or is kept and passes the document
// normaliser at the end (world.md 3.3). So a second run tells nothing where no document was printed. Where one was, the normaliser is checked on
// its text without a run, and the run itself is worth its time where the keeping may go wrong.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The first words of commands, of which only `run` runs a script. */
const COMMAND = /^[a-z]+$/;
const SCRIPT = /\.(mld|md)$/;
/** What names standard streams, or shows output while it arrives, has ways of its own to the terminal. */
const ABOUT_STREAMS = /stream|\bstd(?:out|err)\b/;

/** Says if standard output of the step is the document of a script. @param {{ argv: string[] }} step */
export function printsDocument({ argv }) {
  if (argv.some((word) => word.endsWith('.dot'))) return false;
  return argv[0] === 'run' || !COMMAND.test(argv[0]);
}

/**
 * True where a document was cut short, by an error, a status or a signal, since what was kept until then must still be printed; and where
 * the case is about streams.
 *
 * @param {{ text: string, endedInOrder: boolean }[]} documents what its steps printed when it was run with the document streamed
 */
export async function bufferingCanTell({ folder, steps }, documents) {
  if (documents.length === 0) return false;
  if (documents.some(({ endedInOrder }) => !endedInOrder)) return true;
  if (steps.some(({ argv, write }) => ABOUT_STREAMS.test(JSON.stringify([argv, write ?? {}])))) return true;
  const names = (await readdir(folder, { recursive: true })).filter((name) => SCRIPT.test(name));
  const scripts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return scripts.some((script) => ABOUT_STREAMS.test(script));
}
