/** Reads the settings of a run from options and environment: payload, injected modules, state and limits. world.md 16. */
import path from 'node:path';
import { isObject } from '../../../journal/json-object.js';
import { MlldError } from '../../errors.js';
import { parseDuration } from '../../values/durations.js';
import type { Settings } from '../../runtime/settings.js';
import { createModule, parseModule } from '../../language/source-module.js';
import type { RunOptions } from './run-options.js';
import { annotate, type DataObject, type Value } from '../../values/value.js';
import type { World } from '../../world/world.js';

export const PARALLEL_LIMIT = 4;
export const RECURSION_DEPTH = 64;
/** Hooks may call models, which take minutes. */
export const HOOK_LIMIT_MS = 600_000;

export async function settingsFor(options: RunOptions, directory: string, world: World): Promise<Settings> {
  const { project, environment, streaming, errorBehavior, workingDirectory, payload, state } = options;
  return {
    projectRoot: project.root,
    workingDirectory,
    scriptDirectory: directory,
    prefixes: project.config.prefixes,
    ...(project.config.modules?.folder !== undefined && { modulesFolder: project.config.modules.folder }),
    payload: { ...payload },
    injected: await injectedModules(options.inject, directory, world),
    hasState: state.length > 0,
    errorBehavior,
    streaming,
    parallelLimit: wholeNumber(environment['MLLD_PARALLEL_LIMIT']) ?? PARALLEL_LIMIT,
    recursionDepth: wholeNumber(environment['MLLD_RECURSION_DEPTH']) ?? RECURSION_DEPTH,
    hookLimitMs: hookLimit(environment['MLLD_HOOK_TIMEOUT']),
  };
}

/** Throws BAD_DURATION: a limit that was misread would end hooks too early, or let them hang. */
function hookLimit(text: string | undefined): number {
  if (text === undefined || text.trim() === '') return HOOK_LIMIT_MS;
  const limitMs = parseDuration(text);
  if (limitMs === undefined || limitMs === 0) {
    throw new MlldError('BAD_DURATION', `MLLD_HOOK_TIMEOUT=${text}: not a duration`, { hint: 'write 500ms, 30s, 5m or 1h' });
  }
  return limitMs;
}

/** Undefined for a text that is not a whole number of at least 1. */
function wholeNumber(text: string | undefined): number | undefined {
  const number = Number(text);
  return text !== undefined && Number.isInteger(number) && number > 0 ? number : undefined;
}

/** `--inject @name=VALUE`: a JSON object, `@file`, or source. The last one of a name counts. */
async function injectedModules(inject: readonly string[], directory: string, world: World): Promise<Settings['injected']> {
  const modules = new Map<string, { kind: 'data'; value: Value } | { kind: 'source'; text: string }>();
  for (const entry of inject) {
    const at = entry.indexOf('=');
    const name = entry.slice(0, at).trim();
    if (at < 1 || !/^@[A-Za-z_][\w./-]*$/.test(name)) {
      throw new MlldError('BAD_INJECTION', `--inject ${entry}: NAME=VALUE is expected, and NAME begins with @`, {
        hint: `--inject '@cfg={"a": 1}'`,
      });
    }
    const source = entry.slice(at + 1).trim();
    const isFile = source.startsWith('@');
    const text = isFile ? await readText(path.resolve(directory, source.slice(1)), `--inject ${entry}`, world) : source;
    const module = moduleOf(text, isFile, `--inject ${entry}`);
    // A module that does not parse ends the run before its first statement, even if nothing imports it.
    if (module.kind === 'source') parseModule(createModule({ path: name, display: name, directory, text: module.text }), 'strict');
    modules.set(name, module);
  }
  return modules;
}

function moduleOf(text: string, isFile: boolean, option: string): { kind: 'data'; value: Value } | { kind: 'source'; text: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return { kind: 'data', value };
  } catch {
    if (isFile || !text.startsWith('{')) return { kind: 'source', text };
  }
  throw new MlldError('BAD_INJECTION', `${option}: the value is not a JSON object`, { hint: 'a JSON object, @file, or mlld source' });
}

/** Merges the values of `--state` from left to right; undefined if there is none. */
export async function stateFor(state: readonly string[], directory: string, world: World): Promise<Value> {
  if (state.length === 0) return undefined;
  let merged: DataObject = {};
  for (const entry of state) merged = { ...merged, ...(await stateEntry(entry.trim(), directory, world)) };
  return annotate(merged, {});
}

async function stateEntry(entry: string, directory: string, world: World): Promise<DataObject> {
  if (!entry.startsWith('@') && !entry.startsWith('{')) {
    const at = entry.indexOf('=');
    if (at < 1)
      throw new MlldError('BAD_STATE', `--state ${entry}: not a state`, { hint: '--state @file.json, a JSON object, or KEY=TEXT' });
    return { [entry.slice(0, at)]: entry.slice(at + 1) };
  }
  const text = entry.startsWith('@') ? await readText(path.resolve(directory, entry.slice(1)), `--state ${entry}`, world) : entry;
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Refused below, like a value of another kind.
  }
  throw new MlldError('BAD_STATE', `--state ${entry}: the state is not a JSON object`);
}

async function readText(file: string, option: string, world: World): Promise<string> {
  const read = await world.perform('file.read', { path: file });
  if ('text' in read) return read.text.replace(/^\uFEFF/, '');
  throw new MlldError('FILE_NOT_FOUND', `${option}: there is no file ${file}`);
}
