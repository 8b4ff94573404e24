/** A message of the Anthropic interface. calls.md 7.5 and 7.5.4. */
import { isObject } from '../../../journal/json-object.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import { classOfError } from '../evidence/http-status.js';
import { countAt, objectAt, objectsAt, sumOf, textAt } from './json-members.js';
import type { Adapter, JsonObject, ReportedUsage, Reading } from './reply.js';

export const anthropic: Adapter = {
  name: 'anthropic',
  fits({ form, objects }) {
    const [reply = {}] = objects;
    if (form !== 'object') return false;
    return (reply.type === 'message' && Array.isArray(reply.content)) || (reply.type === 'error' && isObject(reply.error));
  },
  read({ objects }): Reading {
    const [reply = {}] = objects;
    if (reply.type === 'error') {
      const error = objectAt(reply, 'error');
      return { failure: { class: classOfError(undefined, [error.type]) ?? 'crash', message: textAt(error, 'message') ?? 'error' } };
    }
    const common = withoutUndefined<Reading>({ usage: usageOf(reply) });
    const blocks = objectsAt(reply, 'content');
    const texts = blocks.filter(({ type }) => type === 'text').map((block) => textAt(block, 'text') ?? '');
    if (reply.stop_reason === 'refusal') return { ...common, failure: { class: 'content', message: texts.join('') || 'refusal' } };
    const tool = blocks.findLast(({ type }) => type === 'tool_use');
    return {
      ...common,
      ...(texts.length > 0 ? { text: texts.join('') } : withoutUndefined<Reading>({ data: tool?.input })),
      ...(reply.stop_reason === 'max_tokens' ? { truncated: true as const } : {}),
    };
  },
};

function usageOf(reply: JsonObject): ReportedUsage | undefined {
  const usage = objectAt(reply, 'usage');
  const inputTokens = sumOf(
    countAt(usage, 'input_tokens'),
    countAt(usage, 'cache_read_input_tokens'),
    countAt(usage, 'cache_creation_input_tokens'),
  );
  if (inputTokens === undefined) return undefined;
  return withoutUndefined<ReportedUsage>({
    model: textAt(reply, 'model'),
    provider: 'anthropic',
    inputTokens,
    cachedInputTokens: countAt(usage, 'cache_read_input_tokens'),
    cacheWriteTokens: countAt(usage, 'cache_creation_input_tokens'),
    outputTokens: countAt(usage, 'output_tokens'),
  });
}
