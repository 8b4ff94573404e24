/** Reads prompt and options of an agent call. workflows-js.md 3.1. */
import { isLikeOption } from '../../calls/backends/program.js';
import type { Json } from '../../../journal/event.js';
import { isObject, type JsonObject } from '../../../journal/json-object.js';
import { COUNT, MILLISECONDS, TEXT, unknownOptions, wrongOption, type OptionTable } from './option-table.js';

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;
/** Names how hard an agent thinks. */
export type Effort = (typeof EFFORTS)[number];

export interface AgentOptions {
  /** A JSON Schema, as that of a library which makes some: `z.toJSONSchema(…)`. */
  readonly schema?: { readonly [name: string]: unknown };
  readonly model?: string;
  readonly effort?: Effort;
  readonly agentType?: string;
  readonly isolation?: 'worktree';
  readonly backend?: string;
  readonly label?: string;
  readonly phase?: string;
  readonly timeoutMs?: number;
  readonly retries?: number;
}

const OPTIONS: OptionTable<AgentOptions> = {
  schema: ['a JSON Schema, an object', isObject],
  model: TEXT,
  effort: [`one of ${EFFORTS.join(', ')}`, (value) => EFFORTS.some((each) => each === value)],
  agentType: TEXT,
  isolation: ["'worktree'", (value) => value === 'worktree'],
  backend: TEXT,
  label: TEXT,
  phase: TEXT,
  timeoutMs: MILLISECONDS,
  retries: COUNT,
};

/** Options that say how, and not what: the same question with others is the same question. */
const NOT_ASKED = new Set(['label', 'phase', 'timeoutMs', 'retries']);

export interface AgentRequest extends Omit<AgentOptions, 'schema'> {
  readonly prompt: string;
  readonly schema?: JsonObject;
  /** The options that are part of the question, those that nobody knows included. */
  readonly asked: JsonObject;
  /** Names of options that nobody knows. */
  readonly unknown: readonly string[];
}

/** Refuses a request before anything is asked: the script sees an error of this type. */
export class RequestRefused extends Error {
  constructor(
    readonly type: 'TypeError' | 'RangeError' | 'Error',
    message: string,
  ) {
    super(message);
    this.name = 'RequestRefused';
  }
}

/** Throws RequestRefused. */
export function readAgentRequest(prompt: Json, given: Json): AgentRequest {
  if (typeof prompt !== 'string' || prompt.trim() === '') throw refusedAgent('the prompt must be a text that is not empty');
  if (!isObject(given)) throw refusedAgent('the options must be an object');
  const options = given as JsonObject;
  const wrong = wrongOption(options, OPTIONS) ?? smuggledOption(options as AgentOptions) ?? flawOf((options['schema'] ?? {}) as JsonObject);
  if (wrong !== undefined) throw refusedAgent(wrong);
  const known = Object.keys(OPTIONS).flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]] as const]));
  const asked = Object.entries(options).filter(([name, value]) => value !== undefined && !NOT_ASKED.has(name));
  return {
    prompt,
    asked: Object.fromEntries(asked),
    unknown: unknownOptions(options, OPTIONS),
    ...(Object.fromEntries(known) as Omit<AgentRequest, 'prompt' | 'asked' | 'unknown'>),
  };
}

/** Names a member that a program would take for an option of its own, with which a script would give itself rights. workflows-js.md 14. */
function smuggledOption({ model = '', agentType = '' }: AgentOptions): string | undefined {
  const smuggled = Object.entries({ model, agentType }).find(([, value]) => isLikeOption(value));
  return smuggled && `${smuggled[0]} must not begin with "-", but is ${JSON.stringify(smuggled[1])}`;
}

/** Says why a schema can't be used, as far as a look at its root tells. */
function flawOf({ type, required, properties, additionalProperties }: JsonObject): string | undefined {
  if (type !== undefined && type !== 'object') return `the root of the schema must be of type "object", not ${JSON.stringify(type)}`;
  if (additionalProperties !== false || !Array.isArray(required)) return undefined;
  const known = isObject(properties) ? properties : {};
  const impossible = required.find((name) => typeof name === 'string' && !Object.hasOwn(known, name));
  if (impossible === undefined) return undefined;
  return `nothing fits the schema: ${JSON.stringify(impossible)} is required, and additionalProperties: false forbids it`;
}

export function refusedAgent(why: string): RequestRefused {
  return new RequestRefused('TypeError', `agent(prompt, options?): ${why}`);
}
