/** Makes the command line that resumes a recorded run, from the words it was started with. */
import { MlldError } from '../../src/errors.js';
import { isUpload } from '../../src/api/commands/project.js';
import { parseRunRequest, resumeArguments } from '../options/run-request.js';
import { shellWords } from '../../journal/shell-words.js';

export interface RecordedCommand {
  readonly name: string | undefined;
  /** Empty for a run that a program or `mlld serve` started. */
  readonly argv: readonly string[];
  /** The path of its file in the project. */
  readonly workflow?: string;
}

/** `more` are words behind `--resume`: its target, or further flags. */
export function resumeCommand({ name, argv, workflow }: RecordedCommand, ...more: readonly string[]): string {
  if (argv.length === 0 && workflow !== undefined) return shellWords(['mlld', workflow, '--resume', ...more]);
  return shellWords(['mlld', ...words(name ?? '', argv, more)]);
}

/** `target` is what a run's report says is left. */
export function nextCommand(command: RecordedCommand, target: string): string {
  return resumeCommand(command, ...(target === '' ? [] : [target]));
}

/** Keeps the words of a pipeline's run without an earlier `--resume`. `node` is where to continue, if not where the run ended. */
export function pipelineResumeCommand({ name, argv, workflow }: RecordedCommand, node?: string): string {
  const target = node === undefined ? [] : [node];
  if (argv.length === 0 && workflow !== undefined) {
    // A server's questions are answered by other processes.
    const people = isUpload(workflow) ? ['--ask', 'remote'] : [];
    return shellWords(['mlld', 'run', workflow, '--resume', ...target, ...people]);
  }
  const isValue = (word: string, before: string | undefined): boolean =>
    (before === '--resume' && !word.startsWith('-') && word !== name) || before === '--max-calls';
  const kept = argv.filter((word, index) => !isNotResumed(word) && !isValue(word, argv[index - 1]));
  return shellWords(['mlld', 'run', ...(kept[0] === 'run' ? kept.slice(1) : kept), '--resume', ...target]);
}

function isNotResumed(word: string): boolean {
  return /^--(?:resume|max-calls)(?:=|$)/.test(word);
}

/** Words of an older version that mean nothing now are left out, together with the data they carried. */
function words(name: string, argv: readonly string[], more: readonly string[]): readonly string[] {
  try {
    // The words behind `mlld run` name the script, those behind `mlld FILE` its path.
    const isRun = parseRunRequest(argv, 'run').script === name;
    return isRun ? ['run', ...resumeArguments(argv, 'run', more)] : resumeArguments(argv, 'file', more);
  } catch (error) {
    if (!(error instanceof MlldError)) throw error;
    return ['run', name, '--resume', ...more];
  }
}
