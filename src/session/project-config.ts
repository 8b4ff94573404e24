/**
 * Parses `mlld-config.json` into the settings that the program uses. world.md 20: unknown keys are ignored, and named where only mlld reads
 * them. Reads the file itself, because it is needed before there is a run and its world.
 */
import fs from 'node:fs';
import path from 'node:path';
import { isObject, type JsonObject } from '../../journal/json-object.js';
import { MlldError } from '../errors.js';
import { withoutUndefined } from '../values/without-undefined.js';
import type { CallSettings } from '../calls/options.js';
import type { ResolverPrefix } from '../world/files/resolver-prefix.js';
import { callConfig } from './call-config.js';
import { CONFIG_FILE, invalid, isBoolean, isObjects, isText, isTexts, optional } from './config-values.js';
import { agentConfig, type AgentConfig } from './agent-config.js';
import { storeConfig, type StoreConfig } from './store-config.js';
import { unknownSettings } from './unknown-settings.js';

export { CONFIG_FILE } from './config-values.js';

export interface ProjectConfig {
  /** Folder of `mlld run`, relative to the root; default `llm/run`. */
  readonly scriptDir: string;
  readonly prefixes: readonly ResolverPrefix[];
  /** Is about published modules. world.md 11.7. */
  readonly modules?: {
    /** Absolute; absent for `.mlld/modules` of the project. */
    readonly folder?: string;
    /** The address of the index that names are looked up in. */
    readonly registry?: string;
  };
  readonly suppressWarnings: readonly string[];
  /** If false, `mlld run NAME` records only if a flag or the script requests it. */
  readonly record?: boolean;
  /** Settings of workflow scripts. */
  readonly agent?: AgentConfig;
  /** The store of a team that the runs are kept in, instead of files. team-store.md 1. */
  readonly store?: StoreConfig;
  /** Settings of calls, where neither the command line nor the script has one. */
  readonly calls?: Partial<CallSettings>;
  /** Sentences about members that mean nothing. Absent where there are none. */
  readonly unknown?: readonly string[];
}

/** The default of `scriptDir`. */
export const DEFAULT_SCRIPT_DIR = 'llm/run';

/** Throws CONFIG_INVALID for a file that is not JSON, or has a value of the wrong kind. */
export function readConfig(root: string): ProjectConfig {
  const config = parseConfig(path.join(root, CONFIG_FILE));
  const resolvers = optional(config, 'resolvers', isObject, 'an object') ?? {};
  const validate = optional(config, 'validate', isObject, 'an object') ?? {};
  const modules = optional(config, 'modules', isObject, 'an object');
  const unknown = unknownSettings(config);
  const prefixes = [
    ...(optional(resolvers, 'prefixes', isObjects, 'an array of objects') ?? []),
    ...(optional(config, 'resolverPrefixes', isObjects, 'an array of objects') ?? []),
  ];
  return withoutUndefined<ProjectConfig>({
    record: optional(config, 'record', isBoolean, 'true or false'),
    scriptDir: optional(config, 'scriptDir', isText, 'the path of a folder') ?? DEFAULT_SCRIPT_DIR,
    prefixes: prefixes.flatMap((entry) => prefixOf(root, entry)),
    modules: modules && modulesConfig(root, modules),
    suppressWarnings: optional(validate, 'suppressWarnings', isTexts, 'an array of warning codes') ?? [],
    calls: callConfig(config),
    agent: agentConfig(config),
    store: storeConfig(config),
    unknown: unknown.length === 0 ? undefined : unknown,
  });
}

function parseConfig(file: string): JsonObject {
  if (!fs.existsSync(file)) return {};
  const text = readText(file);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    const { message } = cause as SyntaxError;
    throw new MlldError('CONFIG_INVALID', `${CONFIG_FILE} is not valid JSON: ${message}`, {
      location: { file, at: offsetIn(text), text },
      hint: 'an empty object, {}, is a valid configuration',
      cause,
    });
  }
  if (!isObject(parsed))
    throw new MlldError('CONFIG_INVALID', `${CONFIG_FILE} must hold a JSON object`, { location: { file, at: 0, text } });
  return parsed;
}

function readText(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (cause) {
    throw new MlldError('CONFIG_INVALID', `${CONFIG_FILE} can't be read: ${(cause as Error).message}`, {
      cause,
      hint: `make ${file} a file that this user may read`,
    });
  }
}

/** Throws CONFIG_INVALID for a folder outside the project: modules are written there. */
function modulesConfig(root: string, modules: JsonObject): NonNullable<ProjectConfig['modules']> {
  const folder = optional(modules, 'folder', isText, 'the path of a folder', 'modules');
  const absolute = folder === undefined ? undefined : path.resolve(root, folder);
  const below = absolute === undefined ? '.' : path.relative(root, absolute);
  if (absolute === root || below.startsWith('..') || path.isAbsolute(below)) throw invalid('modules.folder', 'a folder inside the project');
  return withoutUndefined<NonNullable<ProjectConfig['modules']>>({
    folder: absolute,
    registry: optional(modules, 'registry', isText, 'the address of an index of modules', 'modules'),
  });
}

/** Ignores prefixes of resolvers that don't map to files of the project. */
function prefixOf(root: string, entry: JsonObject): readonly ResolverPrefix[] {
  const { prefix, resolver, config } = entry;
  if (resolver !== undefined && String(resolver).toUpperCase() !== 'LOCAL') return [];
  const basePath = (isObject(config) ? config['basePath'] : undefined) ?? entry['basePath'];
  if (!isText(prefix) || !isText(basePath)) {
    throw new MlldError('CONFIG_INVALID', `A resolver prefix in ${CONFIG_FILE} needs "prefix" and "config.basePath"`, {
      hint: '{ "prefix": "@lib/", "resolver": "LOCAL", "config": { "basePath": "./src/lib" } }',
    });
  }
  const name = prefix.replace(/^@/, '').replace(/\/+$/, '');
  return [{ prefix: `@${name}/`, basePath: path.resolve(root, basePath) }];
}

/**
 * Most messages of JSON.parse name the position. The one about an unexpected token does not: it is at the end of the shortest beginning of
 * the text that has this error.
 */
function offsetIn(text: string): number {
  const reason = reasonAgainst(text);
  const position = /at position (\d+)/.exec(reason)?.[1];
  if (position !== undefined) return Number(position);
  if (!reason.startsWith(UNEXPECTED_TOKEN)) return text.length;
  let [good, bad] = [0, text.length];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (reasonAgainst(text.slice(0, middle)).startsWith(UNEXPECTED_TOKEN)) bad = middle;
    else good = middle;
  }
  return good;
}

const UNEXPECTED_TOKEN = 'Unexpected token';

function reasonAgainst(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return (error as SyntaxError).message;
  }
}
