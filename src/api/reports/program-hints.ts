/** Words the hints of errors for programs: they name flags of the command line, for which a program has members of its request. */
import { MlldError } from '../../errors.js';

/** By flag, the member that a program sets. */
interface Words {
  readonly [flag: string]: string;
}

const OF_CALLS: Words = {
  budget: 'calls.budget',
  'budget-strict': 'calls.budgetStrict',
  'wait-quota': 'calls.waitQuotaMs',
  unrecorded: 'unrecorded',
  'journal-wait': 'journalWaitMs',
  timeout: 'timeoutMs',
};

export const OF_SCRIPTS: Words = {
  ...OF_CALLS,
  checkpoint: 'cache.checkpoint',
  resume: 'cache.resume',
  fresh: 'cache.fresh',
  fork: 'cache.forks',
  changed: 'cache.changed',
  workers: 'workers',
};

export const OF_PIPELINES: Words = {
  ...OF_CALLS,
  checkpoint: 'checkpoint',
  resume: 'resume',
  fork: 'forks',
  backend: 'backend',
  'run-dir': 'runDirectory',
};

export const OF_PROGRAMS: Words = {
  resume: 'resume',
  fresh: 'fresh',
  fork: 'fork',
  changed: 'changed',
  budget: 'budget',
  timeout: 'timeoutMs',
};

/** A run that the command line starts has its words in `argv`, and keeps the flags. A command that a hint names in whole is left alone. */
export function withProgramHints<R extends { readonly error?: Error }>(
  report: R,
  { argv, words }: { readonly argv: readonly string[]; readonly words: Words },
): R {
  const { error } = report;
  if (argv.length > 0 || !(error instanceof MlldError) || error.hint === undefined) return report;
  const hint = error.hint.replace(/mlld [a-z][^;)]*|--([a-z][a-z-]*)/g, (whole, flag?: string) => (flag && words[flag]) ?? whole);
  Object.defineProperty(error, 'hint', { value: hint, enumerable: true });
  return report;
}
