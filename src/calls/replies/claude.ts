/** Reads the output of `claude -p --output-format json|stream-json`. calls.md 7.5, 7.5.2 and 7.5.4. */
import { isObject } from '../../../journal/json-object.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import { classOfStatus } from '../evidence/http-status.js';
import { knownTextOf } from '../evidence/known-texts.js';
import { momentOfSeconds } from '../evidence/times.js';
import type { Failure, FailureClass } from '../failure.js';
import { countAt, objectAt, sumOf, textAt } from './json-members.js';
import type { Adapter, Envelope, JsonObject, ReportedUsage, Reading } from './reply.js';

type Problem = Omit<Failure, 'evidence'>;

const EVENTS: ReadonlySet<unknown> = new Set(['system', 'assistant', 'user', 'result', 'rate_limit_event', 'stream_event']);

/** Words of the last assistant message that failed. */
const ASSISTANT_ERRORS: { readonly [word: string]: FailureClass } = {
  authentication_failed: 'auth',
  oauth_org_not_allowed: 'auth',
  account_on_hold: 'auth',
  verification_required: 'auth',
  cloud_credential_error: 'auth',
  billing_error: 'quota',
  rate_limit: 'rate-limit',
  overloaded: 'overloaded',
  server_error: 'overloaded',
};

const SUBTYPES: { readonly [subtype: string]: FailureClass } = {
  error_max_budget_usd: 'budget',
  error_max_turns: 'budget',
  error_max_structured_output_retries: 'bad-reply',
};

export const claude: Adapter = {
  name: 'claude',
  fits({ form, objects }: Envelope) {
    const last = objects.at(-1);
    if (last && isResult(last)) return form === 'object' || objects.every(({ type }) => EVENTS.has(type));
    return form === 'lines' && objects[0]?.type === 'system' && objects.every(({ type }) => EVENTS.has(type));
  },
  read({ objects }, nowMs): Reading {
    const result = objects.at(-1);
    if (!result || !isResult(result)) return { cut: true };
    const failure = failureOf(result, objects, nowMs);
    return {
      ...withoutUndefined<Reading>({
        text: textAt(result, 'result'),
        data: result.structured_output,
        failure,
        usage: usageOf(result, objects),
        session: textAt(result, 'session_id'),
      }),
      ...(result.stop_reason === 'max_tokens' ? { truncated: true as const } : {}),
    };
  },
};

function isResult({ type, subtype }: JsonObject): boolean {
  return type === 'result' && typeof subtype === 'string';
}

function failureOf(result: JsonObject, objects: readonly JsonObject[], nowMs: number): Problem | undefined {
  const subtype = textAt(result, 'subtype') ?? '';
  if (result.is_error !== true && !subtype.startsWith('error_')) return undefined;
  const said = textAt(result, 'result') ?? firstText(result.errors) ?? subtype;
  const status = countAt(result, 'api_error_status');
  const text = knownTextOf('claude', said, nowMs);
  const limit = objects.findLast(({ type }) => type === 'rate_limit_event');
  const info = objectAt(limit, 'rate_limit_info');
  const resetsAtMs = momentOfSeconds(info.resetsAt, nowMs) ?? text?.resetsAtMs;
  const failure = (failureClass: FailureClass): Problem =>
    withoutUndefined<Problem>({
      class: failureClass,
      message: said,
      status,
      resetsAtMs: failureClass === 'quota' ? resetsAtMs : undefined,
    });
  if (result.stop_reason === 'refusal') return failure('content');
  if (status === 429 && (info.status === 'rejected' || text?.class === 'quota')) return failure('quota');
  const byStatus = status === undefined ? undefined : classOfStatus(status);
  if (byStatus !== undefined) return failure(byStatus);
  const word = objects.findLast(({ type, error }) => type === 'assistant' && typeof error === 'string')?.error;
  // `unknown` says nothing, so the text may.
  if (typeof word === 'string' && word !== 'unknown') return failure(ASSISTANT_ERRORS[word] ?? 'crash');
  return failure(SUBTYPES[subtype] ?? text?.class ?? 'crash');
}

function usageOf(result: JsonObject, objects: readonly JsonObject[]): ReportedUsage | undefined {
  const costUsd = countAt(result, 'total_cost_usd');
  const byModel = Object.entries(objectAt(result, 'modelUsage')).flatMap(([model, usage]) =>
    isObject(usage) ? [modelUsage(model, usage)] : [],
  );
  if (byModel.length > 0) {
    const models = byModel.toSorted((left, right) => (right.costUsd ?? 0) - (left.costUsd ?? 0));
    const total = (name: Exclude<keyof ReportedUsage, 'model' | 'provider' | 'models' | 'estimated'>): number | undefined =>
      sumOf(...models.map((usage) => usage[name]));
    return withoutUndefined<ReportedUsage>({
      model: models[0]?.model,
      provider: 'anthropic',
      inputTokens: total('inputTokens'),
      cachedInputTokens: total('cachedInputTokens'),
      cacheWriteTokens: total('cacheWriteTokens'),
      outputTokens: total('outputTokens'),
      reasoningTokens: total('reasoningTokens'),
      costUsd,
      estimated: isBasisUnknown(result),
      models: models.length > 1 ? models : undefined,
    });
  }
  const usage = objectAt(result, 'usage');
  const model = textAt(
    objectAt(
      objects.findLast(({ type }) => type === 'assistant'),
      'message',
    ),
    'model',
  );
  const inputTokens = sumOf(
    countAt(usage, 'input_tokens'),
    countAt(usage, 'cache_read_input_tokens'),
    countAt(usage, 'cache_creation_input_tokens'),
  );
  if (inputTokens === undefined && costUsd === undefined) return undefined;
  return withoutUndefined<ReportedUsage>({
    model: model === '<synthetic>' ? undefined : model,
    provider: 'anthropic',
    inputTokens,
    cachedInputTokens: countAt(usage, 'cache_read_input_tokens'),
    cacheWriteTokens: countAt(usage, 'cache_creation_input_tokens'),
    outputTokens: countAt(usage, 'output_tokens'),
    costUsd,
    estimated: isBasisUnknown(result),
  });
}

/** The program says whether it knew the prices that its cost was computed from. calls.md 10.3. */
function isBasisUnknown(result: JsonObject): true | undefined {
  const bases = [result, ...Object.values(objectAt(result, 'modelUsage'))].map((part) => isObject(part) && part.costBasis);
  return bases.includes('unknown') ? true : undefined;
}

function modelUsage(model: string, usage: JsonObject): ReportedUsage {
  return withoutUndefined<ReportedUsage>({
    model,
    inputTokens: sumOf(countAt(usage, 'inputTokens'), countAt(usage, 'cacheReadInputTokens'), countAt(usage, 'cacheCreationInputTokens')),
    cachedInputTokens: countAt(usage, 'cacheReadInputTokens'),
    cacheWriteTokens: countAt(usage, 'cacheCreationInputTokens'),
    outputTokens: countAt(usage, 'outputTokens'),
    reasoningTokens: countAt(usage, 'thinkingTokens'),
    costUsd: countAt(usage, 'costUSD'),
  });
}

function firstText(list: unknown): string | undefined {
  return Array.isArray(list) ? list.find((entry): entry is string => typeof entry === 'string') : undefined;
}
