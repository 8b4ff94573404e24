/** A message of the Anthropic interface. calls.md 7.5 and 7.5.4. */
import { withoutUndefined } from '../../values/without-undefined.js';
import { classOfError } from '../evidence/http-status.js';
import { countAt, objectAt, objectsAt, sumOf, textAt } from './json-members.js';
import type { Adapter, JsonObject, ReportedUsage, Reading } from './reply.js';

export const anthropic: Adapter = {
  name: 'anthropic',
  fits({ form, objects }) {
    const [reply = {}] = objects;
    if (form !== 'object') return false;
    return (reply.type === 'message' && Array.isArray(reply.content)) || isErrorAlone(reply);
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

const OF_ERRORS: ReadonlySet<string> = new Set(['type', 'error', 'request_id', 'requestId', 'sequence_number']);

/** True for the body of an error: a result may have an error in it, so there is nothing else, and its type is one of the interface. */
function isErrorAlone(reply: JsonObject): boolean {
  if (reply.type !== 'error' || !Object.keys(reply).every((name) => OF_ERRORS.has(name))) return false;
  const { type, message } = objectAt(reply, 'error');
  return typeof message === 'string' && typeof type === 'string' && (type.endsWith('_error') || type === 'request_too_large');
}

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
