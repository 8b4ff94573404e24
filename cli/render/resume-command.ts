/** Makes the command line that resumes a recorded run, from the words it was started with. */
import { MlldError } from '../../src/errors.js';
import { isUpload } from '../../src/api/commands/project.js';
import { parseRecordedWords, resumeArguments } from '../options/run-request.js';
import { shownWords } from './shown-words.js';

export interface RecordedCommand {
  readonly name: string | undefined;
  /** Empty for a run that a program or `mlld serve` started. */
  readonly argv: readonly string[];
  /** The path of its file in the project. */
  readonly workflow?: string;
  /** Its pause, if the run was paused. */
  readonly pause?: { readonly leastBudget?: string } | null | undefined;
}

/** `more` are words behind `--resume`: its target, or further flags. */
export function resumeCommand(command: RecordedCommand, ...more: readonly string[]): string {
  const { name, argv, workflow } = command;
  const [kept, added] = withLeastBudget(command);
  if (argv.length === 0 && workflow !== undefined) return shownWords(['mlld', workflow, '--resume', ...more, ...added]);
  return shownWords(['mlld', ...words(name ?? '', kept, [...more, ...added])]);
}

/**
 * Returns the words of a run with a budget that lets a call begin where the recorded one did not, and those to add where it was in no
 * word: the same command would be paused again before its first call, each time.
 */
function withLeastBudget({ argv, pause }: RecordedCommand): readonly [words: readonly string[], added: readonly string[]] {
  const least = pause?.leastBudget;
  if (least === undefined) return [argv, []];
  const end = argv.indexOf('--');
  const isFlag = (word: string, index: number): boolean => /^--budget(?:=|$)/.test(word) && (end === -1 || index < end);
  const at = argv.findLastIndex(isFlag);
  if (at === -1) return [argv, ['--budget', least]];
  const [, inline] = /^--budget=(.*)$/s.exec(argv[at] ?? '') ?? [];
  const raised = withLimits(inline ?? argv[at + 1] ?? '', least);
  return [
    [
      ...argv.slice(0, at),
      ...(inline === undefined ? ['--budget', raised] : [`--budget=${raised}`]),
      ...argv.slice(at + (inline === undefined ? 2 : 1)),
    ],
    [],
  ];
}

/** Each limit but that of time is that of `least`; other parts, as the budget of a workflow script, are as they were. */
function withLimits(written: string, least: string): string {
  const limits = least.split(',');
  const parts = written.split(',').map((part) => {
    const unit = UNITS.find((each) => each.test(part.trim()));
    return (unit && limits.find((limit) => unit.test(limit))) ?? part;
  });
  return parts.join(',');
}

const UNITS = [/^\d.*usd$/i, /^\d.*tok(?:ens)?$/, /^\d+calls?$/i];

/** `target` is what a run's report says is left. */
export function nextCommand(command: RecordedCommand, target: string): string {
  return resumeCommand(command, ...(target === '' ? [] : [target]));
}

/** Keeps the words of a pipeline's run without an earlier `--resume`. `node` is where to continue, if not where the run ended. */
export function pipelineResumeCommand(command: RecordedCommand, node?: string): string {
  const { name, workflow } = command;
  const [argv, added] = withLeastBudget(command);
  const target = node === undefined ? [] : [node];
  if (argv.length === 0 && workflow !== undefined) {
    // A server's questions are answered by other processes.
    const people = isUpload(workflow) ? ['--ask', 'remote'] : [];
    return shownWords(['mlld', 'run', workflow, '--resume', ...target, ...people, ...added]);
  }
  const kept = argv.filter((word, index) => !isNotResumed(word) && !isOptionValue(word, argv[index - 1], name));
  return shownWords(['mlld', 'run', ...(kept[0] === 'run' ? kept.slice(1) : kept), '--resume', ...target, ...added]);
}

/**
 * Runs a pipeline again from its start, and reuses all results that there are: the way on where it reached its exit although calls have
 * none. Undefined for a run that resumed another one, whose words lack what that was started with, and for one of a server.
 */
export function pipelineAgainCommand({ argv }: RecordedCommand): string | undefined {
  if (argv.length === 0 || argv.some(isNotResumed)) return undefined;
  const kept = argv.filter((word) => word !== '--checkpoint');
  return shownWords(['mlld', 'run', ...(kept[0] === 'run' ? kept.slice(1) : kept), '--checkpoint']);
}

/**
 * As `pipelineAgainCommand`, for a run that resumed another one: the words that its first run was started with are not known, so the
 * `--set` of that one is left to the user, and a `--set` of the resume, which had no effect, is left out.
 */
export function pipelineAnewCommand({ name = '', argv }: RecordedCommand): string {
  const isLeftOut = (word: string): boolean => isNotResumed(word) || /^--set(?:=|$)/.test(word) || word === '--checkpoint';
  const kept = argv.filter((word, index) => {
    const before = argv[index - 1];
    return !isLeftOut(word) && before !== '--set' && !isOptionValue(word, before, name);
  });
  const words = kept.length === 0 ? [name] : kept[0] === 'run' ? kept.slice(1) : kept;
  return shownWords(['mlld', 'run', ...words, '--checkpoint']);
}

/** Returns whether a word belongs to the option before it, with which it is left out. */
function isOptionValue(word: string, before: string | undefined, name: string | undefined): boolean {
  return (before === '--resume' && !word.startsWith('-') && word !== name) || before === '--max-calls';
}

function isNotResumed(word: string): boolean {
  return /^--(?:resume|max-calls)(?:=|$)/.test(word);
}

/** Words of an older version that mean nothing now are left out, together with the data they carried. */
function words(name: string, argv: readonly string[], more: readonly string[]): readonly string[] {
  try {
    // The words behind `mlld run` name the script, those behind `mlld FILE` its path. `mlld FILE` runs no JavaScript.
    const { script = '' } = parseRecordedWords(argv);
    const isRun = script === name || /\.m?js$/.test(script);
    return isRun ? ['run', ...resumeArguments(argv, 'run', more)] : resumeArguments(argv, 'file', more);
  } catch (error) {
    if (!(error instanceof MlldError)) throw error;
    return ['run', name, '--resume', ...more];
  }
}
