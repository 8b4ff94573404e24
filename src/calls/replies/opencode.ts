/** Reads the output of `opencode run --format json`, an event in each line. calls.md 7.5 and 7.5.3. */
import { withoutUndefined } from '../../values/without-undefined.js';
import type { Json } from '../../../journal/event.js';
import { isObject } from '../../../journal/json-object.js';
import { classOfError } from '../evidence/http-status.js';
import { retryAfterOf, type Headers } from '../evidence/times.js';
import { countAt, objectAt, sumOf, textAt } from './json-members.js';
import type { Adapter, JsonObject, ReportedUsage, Reading } from './reply.js';

const EVENTS: ReadonlySet<unknown> = new Set(['step_start', 'step_finish', 'text', 'reasoning', 'tool_use', 'error', 'done']);

export const opencode: Adapter = {
  name: 'opencode',
  fits({ form, objects }) {
    // A stream of one event is that of an error: the session did not begin a step.
    const isStream = form === 'lines' || (objects[0]?.type === 'error' && isObject(objects[0].error));
    return isStream && objects.every(({ type, sessionID }) => EVENTS.has(type) && typeof sessionID === 'string');
  },
  read({ objects }, nowMs): Reading {
    const steps = objects.filter(({ type }) => type === 'step_finish').map((event) => objectAt(event, 'part'));
    const common = withoutUndefined<Reading>({ session: textAt(objects[0] ?? {}, 'sessionID'), usage: usageOf(steps) });
    const error = objects.findLast(({ type }) => type === 'error');
    if (error) return { ...common, failure: failureOf(objectAt(error, 'error'), nowMs) };
    if (isCut(objects)) return { ...common, cut: true };
    const texts = objects.filter(({ type }) => type === 'text').map((event) => textAt(objectAt(event, 'part'), 'text') ?? '');
    return { ...common, text: texts.join('\n') };
  },
};

/** The last step has no end, or ended with the call of a tool, which another step follows: what the stream says is half a result. */
function isCut(objects: readonly JsonObject[]): boolean {
  const last = objects.findLast(({ type }) => type === 'step_start' || type === 'step_finish' || type === 'done');
  if (last?.type === 'done') return false;
  return last?.type !== 'step_finish' || objectAt(last, 'part').reason === 'tool-calls';
}

function failureOf(error: JsonObject, nowMs: number): NonNullable<Reading['failure']> {
  const data = objectAt(error, 'data');
  const message = textAt(data, 'message') ?? textAt(error, 'name') ?? 'error';
  if (error.name === 'ProviderAuthError') return { class: 'auth', message };
  if (error.name === 'MessageAbortedError') return { class: 'network', message };
  const status = countAt(data, 'statusCode');
  const body = objectAt(jsonIn(textAt(data, 'responseBody')), 'error');
  return withoutUndefined<NonNullable<Reading['failure']>>({
    class: classOfError(status, [body.code, body.type, message]) ?? 'crash',
    message,
    status,
    retryAfterMs: retryAfterOf(headersIn(objectAt(data, 'responseHeaders')), nowMs),
  });
}

function usageOf(steps: readonly JsonObject[]): ReportedUsage | undefined {
  if (steps.length === 0) return undefined;
  const total = (...path: readonly string[]): number | undefined =>
    sumOf(...steps.map((step) => countAt(objectAt(step, ...path.slice(0, -1)), path.at(-1) ?? '')));
  const cached = total('tokens', 'cache', 'read');
  const written = total('tokens', 'cache', 'write');
  const reasoning = total('tokens', 'reasoning');
  return withoutUndefined<ReportedUsage>({
    inputTokens: sumOf(total('tokens', 'input'), cached, written),
    cachedInputTokens: cached,
    cacheWriteTokens: written,
    outputTokens: sumOf(total('tokens', 'output'), reasoning),
    reasoningTokens: reasoning,
    requests: steps.length > 1 ? steps.length : undefined,
    costUsd: total('cost'),
  });
}

function headersIn(headers: JsonObject): Headers {
  const texts = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(texts.map(([name, value]) => [name.toLowerCase(), value]));
}

function jsonIn(text: string | undefined): JsonObject {
  try {
    const value = JSON.parse(text ?? '') as Json;
    return isObject(value) ? value : {};
  } catch {
    return {}; // the provider's body is not JSON, so it has no code
  }
}
