/** The command line that goes on with a recorded run, from the words it was started with. */
import { parseRunRequest, resumeArguments } from '../../src/payload.js';
import { MlldError } from '../../src/errors.js';
import { shellWords } from './shell.js';

export interface RecordedCommand {
  readonly name: string | undefined;
  readonly argv: readonly string[];
}

/** `target`: what `--resume` is given, if anything. */
export function resumeCommand({ name, argv }: RecordedCommand, ...more: readonly string[]): string {
  return shellWords(['mlld', ...words(name ?? '', argv), ...more]);
}

/** Words of an older version that mean nothing now are left out, together with the data they carried. */
function words(name: string, argv: readonly string[]): readonly string[] {
  try {
    // `mlld run` was given the name itself, `mlld FILE` a path.
    const isRun = parseRunRequest(argv, 'run').script === name;
    return isRun ? ['run', ...resumeArguments(argv, 'run')] : resumeArguments(argv, 'file');
  } catch (error) {
    if (!(error instanceof MlldError)) throw error;
    return ['run', name, '--resume'];
  }
}
