/**
 * Names members of `mlld-config.json` that mean nothing in the parts that only mlld reads: a misspelt budget is no budget, and whoever
 * wrote it must hear of that. Other keys belong to other programs, or to a later version. world.md 20.
 */
import { isObject, type JsonObject } from '../../journal/json-object.js';
import { closest } from '../values/suggest.js';
import { CONFIG_FILE } from './config-values.js';

const CALLS = [
  'retries',
  'timeout',
  'concurrency',
  'budget',
  'budgetStrict',
  'allowFailures',
  'waitQuota',
  'backoff',
  'lanes',
  'stallAfter',
  'files',
];

/** `*` stands for any name. */
const MEMBERS: readonly (readonly [path: string, names: readonly string[]])[] = [
  ['calls', CALLS],
  ['calls.backoff', ['first', 'max']],
  ['calls.lanes.*', ['max', 'start']],
  ['calls.files', ['count', 'eachMiB', 'totalMiB']],
  ['prices.*', ['input', 'cachedInput', 'cacheWrite', 'output']],
  ['agent', ['backend', 'backends', 'model', 'parallel', 'retryMs', 'hooks', 'words']],
  ['store', ['url', 'project']],
];

/** Returns a sentence about each, without its last point. */
export function unknownSettings(config: JsonObject): readonly string[] {
  const misplaced = CALLS.filter((name) => name in config).map((name) => told(name, `calls.${name}`));
  return [...misplaced, ...MEMBERS.flatMap(([path, names]) => unknownBelow(config, path.split('.'), names, []))];
}

/** The configurations whose unknown settings were named: a run, its children and the runs of a server have one. */
const named = new WeakSet<object>();

/** Writes a warning about each, once for a configuration. */
export function nameUnknownSettings(config: { readonly unknown?: readonly string[] }, stderr: (text: string) => void): void {
  if (config.unknown === undefined || named.has(config)) return;
  named.add(config);
  for (const sentence of config.unknown) stderr(`warning: ${sentence}\n`);
}

function unknownBelow(object: unknown, path: readonly string[], names: readonly string[], above: readonly string[]): readonly string[] {
  if (!isObject(object)) return [];
  const [name, ...rest] = path;
  if (name === undefined) {
    return Object.keys(object)
      .filter((key) => !names.includes(key))
      .map((key) => {
        const near = closest(key, names);
        return told([...above, key].join('.'), near && [...above, near].join('.'));
      });
  }
  return (name === '*' ? Object.keys(object) : [name]).flatMap((key) => unknownBelow(object[key], rest, names, [...above, key]));
}

/** Quotes names as JSON does, so that one with a line break in it stays within the line of the warning. */
function told(name: string, near: string | undefined): string {
  const hint = near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`;
  return `${JSON.stringify(name)} in ${CONFIG_FILE} is no setting, and changes nothing${hint}`;
}
