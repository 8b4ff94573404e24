/** Refuses what a program misuses, before anything is asked. */
import { MlldError } from '../../errors.js';
import { COUNT, MILLISECONDS, TEXT, unknownOptions, wrongOption, type OptionTable } from '../run/option-table.js';
import type { Context, StepOptions } from './context.js';
import { jsonOf } from './json.js';

export type ParallelOptions = NonNullable<Parameters<Context['parallel']>[2]>;
export type CheckpointOptions = NonNullable<Parameters<Context['checkpoint']>[1]>;

const OPTIONS: OptionTable<StepOptions> = {
  key: ['a list of JSON data', Array.isArray],
  label: TEXT,
  secret: ['true or false', (value) => typeof value === 'boolean'],
  timeoutMs: MILLISECONDS,
  retries: COUNT,
  writes: ['a list of paths', (value) => Array.isArray(value) && value.every((file) => typeof file === 'string')],
};

const PARALLEL: OptionTable<ParallelOptions> = {
  limit: ['a whole number of at least 1', (value) => Number.isInteger(value) && (value as number) >= 1],
};
const CHECKPOINT: OptionTable<CheckpointOptions> = {
  resume: ['one of auto, manual, never', (value) => ['auto', 'manual', 'never'].some((each) => each === value)],
  ttlMs: MILLISECONDS,
};

/** Throws BAD_OPTION and NOT_JSON. */
export function checkOptions(where: string, options: StepOptions): StepOptions {
  check(where, options, OPTIONS);
  const { key } = options;
  return key === undefined ? options : { ...options, key: key.map((part, index) => jsonOf(part, `part ${index + 1} of the key`)) };
}

/** Throws BAD_OPTION. */
export function checkParallel(options: ParallelOptions): ParallelOptions {
  check('ctx.parallel()', options, PARALLEL);
  return options;
}

/** Throws BAD_OPTION: a misspelt `resume` would make a point of return of one that is none. */
export function checkCheckpoint(options: CheckpointOptions): CheckpointOptions {
  check('ctx.checkpoint()', options, CHECKPOINT);
  return options;
}

function check<T extends object>(where: string, options: T, table: OptionTable<T>): void {
  if (typeof options !== 'object' || options === null) throw refused(where, 'the options must be an object');
  const [unknown] = unknownOptions(options, table);
  if (unknown !== undefined) throw refused(where, `unknown option ${unknown}`, `the options are ${Object.keys(table).join(', ')}`);
  const wrong = wrongOption(options, table);
  if (wrong !== undefined) throw refused(where, wrong);
}

/** Throws BAD_OPTION. */
export function checkText(where: string, what: string, text: unknown): void {
  if (typeof text !== 'string' || text.trim() === '') throw refused(where, `${what} must be a text that is not empty`);
}

function refused(where: string, what: string, hint?: string): MlldError {
  return new MlldError('BAD_OPTION', `${where}: ${what}`, { hint });
}
