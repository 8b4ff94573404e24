/** Reads `agent` of `mlld-config.json`: settings of workflow scripts. workflows-js.md 12. */
import { isObject, type JsonObject } from '../../journal/json-object.js';
import { isAmount, isCount, isText, isTexts, optional, readSettings, setting, type SettingsTable } from './config-values.js';

export interface AgentConfig {
  readonly backend?: string;
  /** Commands and executables that scripts may name as the backend of an agent. */
  readonly backends?: readonly string[];
  readonly model?: string;
  /** The most agents at once. */
  readonly parallel?: number;
  /** The first wait after a rate limit. */
  readonly retryMs?: number;
  /** The path of a module whose hooks and guards hold for the runs. */
  readonly hooks?: string;
  /** Further words of the command lines of programs, by their names. */
  readonly words?: { readonly [program: string]: readonly string[] };
}

export const AGENT_SETTINGS: SettingsTable<AgentConfig> = {
  backend: setting(isText, 'a text'),
  backends: setting(isTexts, 'a list of texts'),
  model: setting(isText, 'a text'),
  parallel: setting(isCount, 'a whole number of at least 1'),
  retryMs: setting(isAmount, 'a number of milliseconds'),
  hooks: setting(isText, 'the path of a module'),
  words: setting(isWords, 'an object with a list of texts for each program'),
};

/** Undefined where the configuration says nothing about agents. Throws CONFIG_INVALID for a value of the wrong kind. */
export function agentConfig(config: JsonObject): AgentConfig | undefined {
  const agent = optional(config, 'agent', isObject, 'an object');
  return agent && readSettings(AGENT_SETTINGS, agent, 'agent');
}

function isWords(value: unknown): value is { readonly [program: string]: readonly string[] } {
  return isObject(value) && Object.values(value).every(isTexts);
}
