/** Separates the context keys that a stage may set from those of the engine and its handlers. graph-pipelines.md 8.1. */
import type { Json } from '../../../journal/event.js';
import type { Updates } from './outcome.js';

/** Holds the results of the branches of a parallel node. */
export const RESULTS_KEY = 'parallel.results';
/** Holds the id of the run that a manager supervises. */
export const CHILD_RUN_KEY = 'stack.child.run_id';

const ENGINE_KEYS = new Set(['outcome', 'preferred_label', 'current_node', '__proto__']);
const ENGINE_PREFIXES = ['graph.', 'internal.'];
const HANDLER_KEYS = new Set(['last_stage', 'last_response', 'tool.output', 'tool.exit_code', 'tool.output_artifact']);
const HANDLER_PREFIXES = ['human.gate.', 'parallel.', 'stack.'];

/** `__proto__` counts as reserved, because an object can't hold it as an ordinary key. */
export function isEngineKey(key: string): boolean {
  return ENGINE_KEYS.has(key) || ENGINE_PREFIXES.some((prefix) => key.startsWith(prefix));
}

/** Returns true for keys that neither the command line nor a restart may set. */
export function isReservedKey(key: string): boolean {
  return isEngineKey(key) || HANDLER_KEYS.has(key) || HANDLER_PREFIXES.some((prefix) => key.startsWith(prefix));
}

/** Returns the updates without keys of the engine, and calls `onDropped` with each of those. */
export function allowedUpdates(updates: Updates, onDropped: (key: string) => void): Updates {
  const keys = Object.keys(updates);
  const dropped = keys.filter(isEngineKey);
  if (dropped.length === 0) return updates;
  dropped.forEach(onDropped);
  return Object.fromEntries(keys.filter((key) => !isEngineKey(key)).map((key) => [key, updates[key] ?? null]));
}

/** Leaves out the ids of child runs in results of branches: they differ from run to run, and a call key must not. */
export function withoutChildRuns(results: Json): Json {
  return JSON.parse(JSON.stringify(results, (key, value: Json) => (key === CHILD_RUN_KEY ? undefined : value))) as Json;
}
