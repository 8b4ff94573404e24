/** Describes attempts of calls by the semantic conventions of OpenTelemetry for generative AI, as version 1.45.0 has them. */
import type { Json } from '../../journal/event.js';
import type { TimelineAttempt } from '../reports/timeline/timeline-attempt.js';
import type { Span } from '../reports/timeline/timeline.js';
import type { Attributes } from './otlp-span.js';

/** The names of the conventions, by adapter, by the program or provider that a lane begins with, and by the names of price tables. */
const PROVIDERS: { readonly [name: string]: string } = {
  claude: 'anthropic',
  anthropic: 'anthropic',
  codex: 'openai',
  openai: 'openai',
  gemini: 'gcp.gemini',
  google: 'gcp.gemini',
  'google-vertex': 'gcp.vertex_ai',
  aws: 'aws.bedrock',
  'amazon-bedrock': 'aws.bedrock',
  azure: 'azure.ai.openai',
  mistral: 'mistral_ai',
  'x-ai': 'x_ai',
  xai: 'x_ai',
};

/** The conventions demand a provider. This is their word for what is none of theirs. */
const OTHER = '_OTHER';

/** The model that was requested: the stage of a pipeline names it, or the lane. */
export function requestedModel({ model }: Pick<Span, 'model'>, attempt: TimelineAttempt | undefined): string | undefined {
  const lane = attempt?.lane;
  const slash = lane?.startsWith('@') === true ? -1 : (lane?.indexOf('/') ?? -1);
  return model ?? (slash < 0 ? undefined : lane?.slice(slash + 1));
}

/** Tokens and costs are on attempts alone, so that a service that adds up all spans counts them once. */
export function aboutAttempt(span: Span, attempt: TimelineAttempt): Attributes {
  const { usage, adapter, lane, session, finishReason, status, retryInMs, cause } = attempt;
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': providerOf(span, attempt),
    'gen_ai.request.model': requestedModel(span, attempt),
    'gen_ai.response.model': usage?.model,
    'gen_ai.response.finish_reasons': finishReason === undefined ? undefined : [finishReason],
    'gen_ai.conversation.id': session,
    'gen_ai.usage.input_tokens': usage?.inputTokens,
    'gen_ai.usage.output_tokens': usage?.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage?.cachedInputTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage?.cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': usage?.reasoningTokens,
    'http.response.status_code': status,
    'mlld.usage.cost_usd': usage?.costUsd,
    'mlld.usage.cost_source': usage?.costSource,
    'mlld.attempt.try': attempt.try,
    'mlld.attempt.outcome': attempt.outcome,
    'mlld.attempt.class': cause,
    'mlld.attempt.retry_in_ms': retryInMs,
    'mlld.attempt.waited_ms': attempt.waitedMs,
    'mlld.lane': lane,
    'mlld.reply.adapter': adapter,
  };
}

function providerOf({ provider }: Span, { usage, adapter = '', lane = '' }: TimelineAttempt): string {
  const known = usage?.provider ?? provider;
  if (known !== undefined) return PROVIDERS[known] ?? known;
  return PROVIDERS[adapter] ?? PROVIDERS[lane.split('/', 1)[0] as string] ?? OTHER;
}

/** A longer text is cut: collectors refuse large attributes. */
const CONTENT_UNITS_MAX = 100_000;

/** Arguments and result of a call as messages. Undefined where the journal does not hold them in clear. */
export function messagesOf(args: Json | undefined, result: Json | undefined, finishReason = 'stop'): Attributes {
  const content = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, CONTENT_UNITS_MAX);
  const input = Array.isArray(args) ? args.map((each: Json) => ({ type: 'text', content: content(each) })) : undefined;
  return {
    'gen_ai.input.messages': input && JSON.stringify([{ role: 'user', parts: input }]),
    'gen_ai.output.messages':
      result === undefined
        ? undefined
        : JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: content(result) }], finish_reason: finishReason }]),
  };
}
