/** Stands in for agents, so that a script can be tried: a text, or the smallest data that fits the schema. Costs nothing. */
import type { Json } from '../../../journal/event.js';
import { isObject, type JsonObject } from '../../../journal/json-object.js';
import { SIMULATED } from '../../../journal/facts/simulated-backend.js';
import type { AgentBackend } from './backend.js';

export const simulatedBackend: AgentBackend = {
  name: SIMULATED,
  async ask(frame, { request: { schema, label, prompt } }) {
    frame.attempt?.report?.usage({ inputTokens: 0, outputTokens: 0, costUsd: 0 });
    if (schema) return { data: smallest(schema, schema, 0) };
    return { text: `[Simulated] Response for agent: ${label ?? (prompt.split('\n')[0] ?? '').slice(0, LABEL_UNITS)}` };
  },
};

const LABEL_UNITS = 60;
const DEPTH_MAX = 20;

/** A value that fits most schemas people write: all members, the least numbers, lists and texts of the least length. */
function smallest(schema: Json, root: JsonObject, depth: number): Json {
  if (!isObject(schema) || depth > DEPTH_MAX) return null;
  const { $ref: reference, const: fixed, enum: choices, anyOf, oneOf, allOf } = schema as JsonObject;
  if (typeof reference === 'string') return smallest(referred(reference, root), root, depth + 1);
  if (fixed !== undefined) return fixed;
  if (Array.isArray(choices) && choices[0] !== undefined) return choices[0];
  const [first] = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  if (first !== undefined) return smallest(first, root, depth + 1);
  if (Array.isArray(allOf)) return smallest(merged([schema, ...allOf]), root, depth + 1);
  switch (typeOf(schema as JsonObject)) {
    case 'object':
      return smallestObject(schema as JsonObject, root, depth);
    case 'array': {
      const { items = true, minItems = 0 } = schema as JsonObject;
      return Array.from({ length: Number(minItems) }, () => smallest(items === true ? { type: 'string' } : items, root, depth + 1));
    }
    case 'integer':
    case 'number':
      return smallestNumber(schema as JsonObject);
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return 'x'.repeat(Number((schema as JsonObject)['minLength'] ?? 0));
  }
}

function smallestObject({ properties, required = [] }: JsonObject, root: JsonObject, depth: number): Json {
  const known = isObject(properties) ? (properties as JsonObject) : {};
  const names = new Set([...Object.keys(known), ...(Array.isArray(required) ? required.map(String) : [])]);
  return Object.fromEntries([...names].map((name) => [name, smallest(known[name] ?? { type: 'string' }, root, depth + 1)]));
}

function smallestNumber({ type, minimum, exclusiveMinimum, maximum, exclusiveMaximum }: JsonObject): number {
  const isWhole = type === 'integer';
  if (typeof minimum === 'number') return isWhole ? Math.ceil(minimum) : minimum;
  if (typeof exclusiveMinimum === 'number') return isWhole ? Math.floor(exclusiveMinimum) + 1 : exclusiveMinimum + 1;
  if (typeof maximum === 'number' && maximum < 0) return isWhole ? Math.floor(maximum) : maximum;
  if (typeof exclusiveMaximum === 'number' && exclusiveMaximum <= 0)
    return isWhole ? Math.ceil(exclusiveMaximum) - 1 : exclusiveMaximum - 1;
  return 0;
}

function typeOf({ type, properties, items }: JsonObject): Json | undefined {
  if (Array.isArray(type)) return type[0];
  return type ?? (properties === undefined ? (items === undefined ? undefined : 'array') : 'object');
}

function merged(schemas: readonly Json[]): JsonObject {
  const objects = schemas.filter(isObject) as readonly JsonObject[];
  const { allOf: _, ...all } = Object.assign({}, ...objects) as JsonObject;
  const properties = Object.assign({}, ...objects.map((each) => each['properties'] ?? {})) as JsonObject;
  return { ...all, properties };
}

/** `#/$defs/berth` */
function referred(reference: string, root: JsonObject): Json {
  let at: Json | undefined = root;
  for (const step of reference.replace(/^#\/?/, '').split('/')) {
    if (step !== '') at = isObject(at) ? (at as JsonObject)[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  }
  return at ?? null;
}
