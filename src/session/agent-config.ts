/** Reads `agent` of `mlld-config.json`: settings of workflow scripts. workflows-js.md 12. */
import { isObject, type JsonObject } from '../../journal/json-object.js';
import { withoutUndefined } from '../values/without-undefined.js';
import { isAmount, isCount, isText, isTexts, optional } from './config-values.js';

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

const AGENT = 'agent';

/** Undefined where the configuration says nothing about agents. Throws CONFIG_INVALID for a value of the wrong kind. */
export function agentConfig(config: JsonObject): AgentConfig | undefined {
  const agent = optional(config, AGENT, isObject, 'an object');
  return (
    agent &&
    withoutUndefined<AgentConfig>({
      backend: optional(agent, 'backend', isText, 'a text', AGENT),
      backends: optional(agent, 'backends', isTexts, 'a list of texts', AGENT),
      model: optional(agent, 'model', isText, 'a text', AGENT),
      parallel: optional(agent, 'parallel', isCount, 'a whole number of at least 1', AGENT),
      retryMs: optional(agent, 'retryMs', isAmount, 'a number of milliseconds', AGENT),
      hooks: optional(agent, 'hooks', isText, 'the path of a module', AGENT),
      words: optional(agent, 'words', isWords, 'an object with a list of texts for each program', AGENT),
    })
  );
}

function isWords(value: unknown): value is { readonly [program: string]: readonly string[] } {
  return isObject(value) && Object.values(value).every(isTexts);
}
