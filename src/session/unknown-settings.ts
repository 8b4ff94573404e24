/**
 * Names members of `mlld-config.json` that mean nothing in the parts that only mlld reads: a misspelt budget limits nothing, and its author
 * must learn of that. Other keys belong to other programs, or to a later version. world.md 20.
 */
import { isObject, type JsonObject } from '../../journal/json-object.js';
import { closest } from '../values/suggest.js';
import { AGENT_SETTINGS } from './agent-config.js';
import { BACKOFF_SETTINGS, CALL_SETTINGS, FILES_SETTINGS, LANE_SETTINGS, PRICE_SETTINGS } from './call-config.js';
import { CONFIG_FILE, type SettingsTable } from './config-values.js';
import { STORE_SETTINGS } from './store-config.js';

/** `*` stands for any name. */
const TABLES: readonly (readonly [path: string, table: SettingsTable])[] = [
  ['calls', CALL_SETTINGS],
  ['calls.backoff', BACKOFF_SETTINGS],
  ['calls.lanes.*', LANE_SETTINGS],
  ['calls.files', FILES_SETTINGS],
  ['prices.*', PRICE_SETTINGS],
  ['agent', AGENT_SETTINGS],
  ['store', STORE_SETTINGS],
];

/** These say what a run costs, so a name that is nearly one of them is not taken for that of another program. */
const MONEY = ['calls', 'prices'];

/** Returns a sentence about each, without its last point. */
export function unknownSettings(config: JsonObject): readonly string[] {
  const misplaced = Object.keys(CALL_SETTINGS).filter((name) => name in config);
  const misspelt = Object.keys(config).flatMap((key) => {
    const near = MONEY.includes(key) ? undefined : closest(key, MONEY);
    return near === undefined ? [] : [unknownSetting(key, near)];
  });
  return [
    ...misplaced.map((name) => unknownSetting(name, `calls.${name}`)),
    ...misspelt,
    ...TABLES.flatMap(([path, table]) => unknownBelow(config, path.split('.'), Object.keys(table), [])),
  ];
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
        const beside = above.length === 1 && MONEY.includes(key) ? key : undefined;
        return unknownSetting([...above, key].join('.'), near ? [...above, near].join('.') : beside);
      });
  }
  return (name === '*' ? Object.keys(object) : [name]).flatMap((key) => unknownBelow(object[key], rest, names, [...above, key]));
}

/** Quotes names as JSON does, so that one with a line break in it stays within the line of the warning. */
function unknownSetting(name: string, near: string | undefined): string {
  const hint = near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`;
  return `${JSON.stringify(name)} in ${CONFIG_FILE} is no setting, and changes nothing${hint}`;
}
