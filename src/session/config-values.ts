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

/** Parses the value of a setting that messages call `name`. Throws CONFIG_INVALID. */
export type Setting<T> = (value: unknown, name: string) => T;

/**
 * The settings of one object of the configuration, by their names there. What is read of the object and what means something in it is one
 * table, so that no setting is read which `unknownSettings` names, and none is named which is read.
 */
export type SettingsTable<T = { readonly [name: string]: unknown }> = { readonly [S in keyof T]-?: Setting<Exclude<T[S], undefined>> };

export function setting<T>(is: (value: unknown) => value is T, wanted: string): Setting<T> {
  return (value, name) => {
    if (is(value)) return value;
    throw invalid(name, wanted);
  };
}

/** Returns the settings that the object has. `within` names it in messages. */
export function readSettings<T extends object>(table: SettingsTable<T>, object: JsonObject, within: string): Partial<T> {
  const read: { -readonly [S in keyof T]?: T[S] } = {};
  for (const name of Object.keys(table) as (keyof T & string)[]) {
    const value = object[name];
    if (value !== undefined) read[name] = table[name](value, `${within}.${name}`);
  }
  return read;
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
