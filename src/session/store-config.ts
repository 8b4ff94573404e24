/** Reads `store` of `mlld-config.json`: the store of a team that the runs are kept in, instead of files. team-store.md 1. */
import { isObject, type JsonObject } from '../../journal/json-object.js';
import { isText, optional, readSettings, setting, type SettingsTable } from './config-values.js';

export interface StoreConfig {
  readonly url: string;
  readonly project?: string;
}

export const STORE_SETTINGS: SettingsTable<StoreConfig> = {
  url: setting(isText, 'the URL of a database'),
  project: setting(isText, 'the name of a project'),
};

/** Undefined where the configuration names no store. Throws CONFIG_INVALID for a value of the wrong kind. */
export function storeConfig(config: JsonObject): StoreConfig | undefined {
  const store = optional(config, 'store', isObject, 'an object');
  if (store === undefined) return undefined;
  const { url, ...project } = readSettings(STORE_SETTINGS, store, 'store');
  return url === undefined ? undefined : { url, ...project };
}
