/** Reads prompt and options of an agent call. workflows-js.md 3.1. */
import type { Json } from '../../../journal/event.js';
import { isObject, type JsonObject } from '../../../journal/json-object.js';
import { withoutUndefined } from '../../values/without-undefined.js';

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;
/** Names how hard an agent thinks. */
export type Effort = (typeof EFFORTS)[number];

export interface AgentOptions {
  readonly schema?: JsonObject;
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

export interface AgentRequest extends AgentOptions {
  readonly prompt: string;
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

/** Options that say how, and not what: the same question with others is the same question. */
const NOT_ASKED = new Set(['label', 'phase', 'timeoutMs', 'retries']);
const ASKED = new Set(['schema', 'model', 'effort', 'agentType', 'isolation', 'backend']);

/** Throws RequestRefused. */
export function readAgentRequest(prompt: Json, options: Json): AgentRequest {
  if (typeof prompt !== 'string' || prompt.trim() === '') throw refused('the prompt must be a text that is not empty');
  if (!isObject(options)) throw refused('the options must be an object');
  const members = options as JsonObject;
  const text = (name: string): string | undefined => {
    const value = members[name];
    if (value === undefined || typeof value === 'string') return value;
    throw refused(`${name} must be a text`);
  };
  const number = (name: string, isFit: (value: number) => boolean, wanted: string): number | undefined => {
    const value = members[name];
    if (value === undefined || (typeof value === 'number' && isFit(value))) return value;
    throw refused(`${name} must be ${wanted}`);
  };
  const { schema } = members;
  if (schema !== undefined) refuseSchema(schema);
  const [effort, isolation] = [text('effort'), text('isolation')];
  if (!isEffort(effort)) throw refused(`effort must be one of ${EFFORTS.join(', ')}`);
  if (isolation !== undefined && isolation !== 'worktree') throw refused("isolation must be 'worktree'");
  const asked = Object.fromEntries(Object.entries(members).filter(([name, value]) => value !== undefined && !NOT_ASKED.has(name)));
  return withoutUndefined<AgentRequest>({
    prompt,
    asked,
    unknown: Object.keys(asked).filter((name) => !ASKED.has(name)),
    schema: schema as JsonObject | undefined,
    model: text('model'),
    effort,
    agentType: text('agentType'),
    isolation,
    backend: text('backend'),
    label: text('label'),
    phase: text('phase'),
    timeoutMs: number('timeoutMs', (value) => value > 0, 'a number of milliseconds above 0'),
    retries: number('retries', (value) => Number.isInteger(value) && value >= 0, 'a whole number'),
  });
}

function isEffort(text: string | undefined): text is Effort | undefined {
  return text === undefined || (EFFORTS as readonly string[]).includes(text);
}

function refuseSchema(schema: Json): void {
  if (!isObject(schema)) throw refused('schema must be a JSON Schema, an object');
  const { type, required, properties, additionalProperties } = schema as JsonObject;
  if (type !== undefined && type !== 'object')
    throw refused(`the root of the schema must be of type "object", not ${JSON.stringify(type)}`);
  if (additionalProperties !== false || !Array.isArray(required)) return;
  const known = isObject(properties) ? properties : {};
  const impossible = required.find((name) => typeof name === 'string' && !Object.hasOwn(known, name));
  if (impossible !== undefined)
    throw refused(`nothing fits the schema: ${JSON.stringify(impossible)} is required, and additionalProperties: false forbids it`);
}

function refused(message: string): RequestRefused {
  return new RequestRefused('TypeError', `agent(prompt, options?): ${message}`);
}
