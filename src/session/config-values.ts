/** Checks the values of `mlld-config.json`. A value of the wrong kind is an error that says what is expected. */
import { isObject, type JsonObject } from '../../journal/json-object.js';
import { MlldError } from '../errors.js';

export const CONFIG_FILE = 'mlld-config.json';

/** Returns the member of this name; undefined where it is missing. `within` names the object in messages. Throws CONFIG_INVALID. */
export function optional<T>(
  object: JsonObject,
  key: string,
  is: (value: unknown) => value is T,
  wanted: string,
  within?: string,
): T | undefined {
  const value = object[key];
  if (value === undefined || is(value)) return value;
  throw invalid(within === undefined ? key : `${within}.${key}`, wanted);
}

export function invalid(name: string, wanted: string): MlldError {
  return new MlldError('CONFIG_INVALID', `"${name}" in ${CONFIG_FILE} must be ${wanted}`);
}

export const isObjects = (value: unknown): value is readonly JsonObject[] => Array.isArray(value) && value.every(isObject);
export const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
export const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
export const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');
/** A whole number of at least 1. */
export const isCount = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 1;
/** A price may be 0. */
export const isAmount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;
