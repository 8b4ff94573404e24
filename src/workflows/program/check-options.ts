/** Refuses what a program misuses, before anything is asked. */
import { MlldError } from '../../errors.js';
import { COUNT, MILLISECONDS, TEXT, unknownOptions, wrongOption, type OptionTable } from '../run/option-table.js';
import type { StepOptions } from './context.js';
import { jsonOf } from './json.js';

const OPTIONS: OptionTable<StepOptions> = {
  key: ['a list of JSON data', Array.isArray],
  label: TEXT,
  secret: ['true or false', (value) => typeof value === 'boolean'],
  timeoutMs: MILLISECONDS,
  retries: COUNT,
  writes: ['a list of paths', (value) => Array.isArray(value) && value.every((file) => typeof file === 'string')],
};

/** Throws BAD_OPTION and NOT_JSON. */
export function checkOptions(where: string, options: StepOptions): StepOptions {
  if (typeof options !== 'object' || options === null) throw refused(where, 'the options must be an object');
  const [unknown] = unknownOptions(options, OPTIONS);
  if (unknown !== undefined) throw refused(where, `unknown option ${unknown}`, `the options are ${Object.keys(OPTIONS).join(', ')}`);
  const wrong = wrongOption(options, OPTIONS);
  if (wrong !== undefined) throw refused(where, wrong);
  const { key } = options;
  return key === undefined ? options : { ...options, key: key.map((part, index) => jsonOf(part, `part ${index + 1} of the key`)) };
}

/** Throws BAD_OPTION. */
export function checkText(where: string, what: string, text: unknown): void {
  if (typeof text !== 'string' || text.trim() === '') throw refused(where, `${what} must be a text that is not empty`);
}

function refused(where: string, what: string, hint?: string): MlldError {
  return new MlldError('BAD_OPTION', `${where}: ${what}`, { hint });
}
