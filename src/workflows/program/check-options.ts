/** Refuses what a program misuses, before anything is asked. */
import { MlldError } from '../../errors.js';
import type { StepOptions } from './context.js';
import { jsonOf } from './json.js';

const IS: { readonly [K in keyof StepOptions]-?: readonly [wanted: string, isRight: (value: unknown) => boolean] } = {
  key: ['a list of JSON data', Array.isArray],
  label: ['a text', (value) => typeof value === 'string'],
  secret: ['true or false', (value) => typeof value === 'boolean'],
  timeoutMs: ['a number of milliseconds above 0', (value) => typeof value === 'number' && value > 0],
  retries: ['a whole number', (value) => Number.isInteger(value) && (value as number) >= 0],
  writes: ['a list of paths', (value) => Array.isArray(value) && value.every((file) => typeof file === 'string')],
};

/** Throws BAD_OPTION and NOT_JSON. */
export function checkOptions(where: string, options: StepOptions): StepOptions {
  if (typeof options !== 'object' || options === null) throw refused(where, 'the options must be an object');
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(IS, name)) throw refused(where, `unknown option ${name}`, `the options are ${Object.keys(IS).join(', ')}`);
    const [wanted, isRight] = IS[name as keyof StepOptions];
    if (!isRight(value)) throw refused(where, `${name} must be ${wanted}`);
  }
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
