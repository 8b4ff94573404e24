/** Reads the output of `gemini -p -o json|stream-json`. calls.md 7.5 and 7.5.3. */
import { isObject } from '../../../journal/json-object.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import { classOfStatus } from '../evidence/http-status.js';
import { knownErrorOf, resetAfter } from '../evidence/known-texts.js';
import { classOfExit } from '../evidence/known-exits.js';
import { countAt, objectAt, sumOf, textAt } from './json-members.js';
import type { Adapter, JsonObject, ReportedUsage, Reading } from './reply.js';

const EVENTS: ReadonlySet<unknown> = new Set(['init', 'message', 'tool_use', 'tool_result', 'error', 'result']);

export const gemini: Adapter = {
  name: 'gemini',
  fits({ form, objects }) {
    const [first] = objects;
    if (form === 'object') return typeof first?.session_id === 'string' && (typeof first.response === 'string' || isObject(first.error));
    return first?.type === 'init' && typeof first.session_id === 'string' && objects.every(({ type }) => EVENTS.has(type));
  },
  read({ form, objects }, nowMs): Reading {
    return form === 'object' ? readObject(objects[0] ?? {}, nowMs) : readLines(objects, nowMs);
  },
};

function readObject(reply: JsonObject, nowMs: number): Reading {
  const common = withoutUndefined<Reading>({
    session: textAt(reply, 'session_id'),
    usage: usageOf(objectAt(reply, 'stats', 'models'), tokensOfObject),
  });
  if (isObject(reply.error)) return { ...common, failure: failureOf(reply.error, nowMs) };
  return { ...common, ...withoutUndefined<Reading>({ text: textAt(reply, 'response') }) };
}

function readLines(objects: readonly JsonObject[], nowMs: number): Reading {
  const result = objects.findLast(({ type }) => type === 'result');
  const common = withoutUndefined<Reading>({
    session: textAt(objects[0] ?? {}, 'session_id'),
    usage: usageOf(objectAt(result, 'stats', 'models'), (usage) => ({
      ...tokensOfLines(usage),
      requests: 1 + objects.filter(({ type }) => type === 'tool_use').length,
    })),
  });
  if (!result) return { ...common, cut: true };
  if (result.status === 'error') return { ...common, failure: failureOf(objectAt(result, 'error'), nowMs) };
  const parts = objects
    .filter(({ type, role }) => type === 'message' && role === 'assistant')
    .map((event) => textAt(event, 'content') ?? '');
  return { ...common, text: parts.join('') };
}

function failureOf(error: JsonObject, nowMs: number): NonNullable<Reading['failure']> {
  const message = textAt(error, 'message') ?? 'error';
  const code = countAt(error, 'code');
  if (error.type === 'TerminalQuotaError') {
    const resetsAtMs = resetAfter(message, nowMs);
    return { class: 'quota', message, ...(resetsAtMs === undefined ? {} : { resetsAtMs }) };
  }
  const byCode = code === undefined ? undefined : (classOfExit('gemini', code) ?? classOfStatus(code));
  const status = code !== undefined && code >= 100 ? { status: code } : {};
  if (byCode !== undefined && byCode !== 'crash') return { class: byCode, message, ...status };
  // The events of a stream have no code, and a refusal has that of any bad request.
  return { class: 'crash', message, ...status, ...knownErrorOf('gemini', message, nowMs) };
}

type Tokens = Omit<ReportedUsage, 'model' | 'models'>;

function usageOf(models: JsonObject, tokensOf: (usage: JsonObject) => Tokens): ReportedUsage | undefined {
  const each = Object.entries(models).flatMap(([model, usage]) => (isObject(usage) ? [{ model, ...tokensOf(usage) }] : []));
  if (each.length === 0) return undefined;
  const largest = each.toSorted((left, right) => (right.inputTokens ?? 0) - (left.inputTokens ?? 0));
  const total = (name: 'inputTokens' | 'cachedInputTokens' | 'outputTokens' | 'reasoningTokens'): number | undefined =>
    sumOf(...each.map((usage) => usage[name]));
  return withoutUndefined<ReportedUsage>({
    model: largest[0]?.model,
    provider: 'google',
    inputTokens: total('inputTokens'),
    cachedInputTokens: total('cachedInputTokens'),
    outputTokens: total('outputTokens'),
    reasoningTokens: total('reasoningTokens'),
    models: each.length > 1 ? largest : undefined,
    requests: each.length > 1 ? undefined : each[0]?.requests,
  });
}

function tokensOfObject(usage: JsonObject): Tokens {
  const tokens = objectAt(usage, 'tokens');
  const thoughts = countAt(tokens, 'thoughts');
  return withoutUndefined<Tokens>({
    inputTokens: countAt(tokens, 'prompt'),
    cachedInputTokens: countAt(tokens, 'cached'),
    outputTokens: sumOf(countAt(tokens, 'candidates'), thoughts),
    reasoningTokens: thoughts,
    requests: countAt(objectAt(usage, 'api'), 'totalRequests'),
  });
}

/** Thoughts are only in the total here. */
function tokensOfLines(usage: JsonObject): Tokens {
  const total = countAt(usage, 'total_tokens');
  const input = countAt(usage, 'input_tokens');
  return withoutUndefined<Tokens>({
    inputTokens: input,
    cachedInputTokens: countAt(usage, 'cached'),
    outputTokens: total === undefined || input === undefined ? undefined : Math.max(0, total - input),
  });
}
