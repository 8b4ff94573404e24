/** The command line that goes on with a recorded run, from the words it was started with. */
import { MlldError } from '../../src/errors.js';
import { isUpload } from '../../src/session/project.js';
import { parseRunRequest, resumeArguments } from '../options/run-request.js';
import { shellWords } from './shell-words.js';

export interface RecordedCommand {
  readonly name: string | undefined;
  /** Empty for a run that no command line started: by a program, or by `mlld serve`. */
  readonly argv: readonly string[];
  /** The path of its file in the project. */
  readonly workflow?: string;
}

/** `target`: what `--resume` is given, if anything. */
export function resumeCommand({ name, argv, workflow }: RecordedCommand, ...more: readonly string[]): string {
  if (argv.length === 0 && workflow !== undefined) return shellWords(['mlld', workflow, '--resume', ...more]);
  return shellWords(['mlld', ...words(name ?? '', argv), ...more]);
}

/** Of a pipeline: its words without an earlier `--resume`, then that one. `node`: where to go on, if not where it ended. */
export function pipelineResumeCommand({ name, argv, workflow }: RecordedCommand, node?: string): string {
  const target = node === undefined ? [] : [node];
  if (argv.length === 0 && workflow !== undefined) {
    // A server asks people from elsewhere.
    const people = isUpload(workflow) ? ['--ask', 'remote'] : [];
    return shellWords(['mlld', 'run', workflow, '--resume', ...target, ...people]);
  }
  const kept = argv.filter((word, index) => !isResume(word) && !(argv[index - 1] === '--resume' && !word.startsWith('-') && word !== name));
  return shellWords(['mlld', 'run', ...(kept[0] === 'run' ? kept.slice(1) : kept), '--resume', ...target]);
}

function isResume(word: string): boolean {
  return word === '--resume' || word.startsWith('--resume=');
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
