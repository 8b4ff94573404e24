/** Holds the attributes of exported attempts to the names of OpenTelemetry's conventions for generative AI. */
import { describe, expect, it } from 'vitest';
import type { Fact, Usage } from '../../../journal/event.js';
import { messagesOf } from '../../../replay/export/gen-ai.js';
import { otlpSpans } from '../../../replay/export/otlp.js';
import { fold } from '../../../replay/fold/projection.js';
import { timeline } from '../../../replay/reports/timeline/timeline.js';
import { call, run, runRef } from '../../support/written-runs.js';

/** The attributes of requests in `@opentelemetry/semantic-conventions` 1.45.0 (incubating) that are not deprecated. */
const NAMES = `agent.description agent.id agent.name agent.version conversation.id data_source.id embeddings.dimension.count input.messages
operation.name output.messages output.type prompt.name provider.name request.choice.count request.encoding_formats
request.frequency_penalty request.max_tokens request.model request.presence_penalty request.seed request.stop_sequences request.stream
request.temperature request.top_k request.top_p response.finish_reasons response.id response.model response.time_to_first_chunk
system_instructions token.type tool.definitions usage.cache_creation.input_tokens usage.cache_read.input_tokens usage.input_tokens
usage.output_tokens usage.reasoning.output_tokens workflow.name`;
const PUBLISHED = new Set(NAMES.split(/\s+/).map((name) => `gen_ai.${name}`));

/** The values of `gen_ai.provider.name`; another one is allowed where none of them fits. */
const PROVIDERS = `anthropic aws.bedrock azure.ai.inference azure.ai.openai cohere deepseek gcp.gemini gcp.gen_ai gcp.vertex_ai groq
ibm.watsonx.ai mistral_ai openai perplexity x_ai`.split(/\s+/);

const ref = runRef(1);
const USAGE: Usage = { model: 'opus-5', inputTokens: 9, cachedInputTokens: 4, cacheWriteTokens: 2, outputTokens: 5, reasoningTokens: 3 };

function attemptWith(provider: string | undefined, end: Partial<Fact & { type: 'call.completed' }> = {}) {
  const facts = call('main/ask#0', 'ebb').map((fact): Fact => {
    if (fact.type === 'call.started') return { ...fact, lane: 'claude/opus' };
    const usage = provider === undefined ? USAGE : { ...USAGE, provider };
    return fact.type === 'call.completed' ? { ...fact, usage, reply: { adapter: 'claude' }, session: 's-1', ...end } : fact;
  });
  const state = fold(timeline, run(ref, facts));
  return [...otlpSpans(ref, state, { version: '9.9.9', isRunning: false })].map(({ parts }) => parts);
}

describe('attributes of attempts', () => {
  it('have the published names, and all that are required or recommended for a request', () => {
    const [workflow, , attempt] = attemptWith(undefined);
    const about = { ...workflow?.about, ...attempt?.about, ...messagesOf(['ebb'], 'flow') };
    const used = Object.keys(about).filter((name) => name.startsWith('gen_ai.'));
    expect(used.filter((name) => !PUBLISHED.has(name))).toEqual([]);
    expect(Object.keys(about).filter((name) => !/^(gen_ai|mlld|code)\.|^http\.response\.status_code$/.test(name))).toEqual([]);
    expect(attempt?.about).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': 'opus',
      'gen_ai.response.model': 'opus-5',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.conversation.id': 's-1',
      'gen_ai.usage.input_tokens': 9,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.cache_read.input_tokens': 4,
      'gen_ai.usage.cache_creation.input_tokens': 2,
      'gen_ai.usage.reasoning.output_tokens': 3,
    });
    expect([attempt?.name, attempt?.kind]).toEqual(['chat opus', 3]);
  });

  it.each([
    ['x-ai', 'x_ai'],
    ['xai', 'x_ai'],
    ['mistral', 'mistral_ai'],
    ['google', 'gcp.gemini'],
    ['google-vertex', 'gcp.vertex_ai'],
    ['amazon-bedrock', 'aws.bedrock'],
    ['azure', 'azure.ai.openai'],
    ['groq', 'groq'],
  ])('name the provider %s as the conventions do: %s', (provider, name) => {
    expect(PROVIDERS).toContain(name);
    expect(attemptWith(provider)[2]?.about['gen_ai.provider.name']).toBe(name);
  });
});
