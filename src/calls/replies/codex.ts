/** Reads the output of `codex exec --json`, an event in each line. calls.md 7.5. codex has words only for its failures. */
import { withoutUndefined } from '../../values/without-undefined.js';
import { knownTextOf } from '../evidence/known-texts.js';
import { countAt, objectAt, textAt } from './json-members.js';
import type { Adapter, JsonObject, ReportedUsage, Reading } from './reply.js';

export const codex: Adapter = {
  name: 'codex',
  fits({ form, objects }) {
    return (
      form === 'lines' &&
      objects[0]?.type === 'thread.started' &&
      objects.every(({ type }) => /^(?:(?:thread|turn|item)\.\w+|error)$/.test(String(type)))
    );
  },
  read({ objects }, nowMs): Reading {
    const completed = objects.findLast(({ type }) => type === 'turn.completed');
    const usage = completed && { ...usageOf(objectAt(completed, 'usage')), requests: requestsIn(objects) };
    const common = withoutUndefined<Reading>({ usage, session: sessionIn(objects) });
    const problem = problemIn(objects);
    if (problem !== undefined) {
      const { class: failureClass = 'crash' as const, ...times } = knownTextOf('codex', problem, nowMs) ?? {};
      return { ...common, failure: { ...times, class: failureClass, message: problem } };
    }
    if (!completed) return { ...common, cut: true };
    const message = objects.findLast((event) => event.type === 'item.completed' && objectAt(event, 'item').type === 'agent_message');
    return { ...common, ...withoutUndefined<Reading>({ text: message && textAt(objectAt(message, 'item'), 'text') }) };
  },
};

/** A failed turn, or an error that no completed turn follows. */
function problemIn(objects: readonly JsonObject[]): string | undefined {
  const failed = objects.findLast(({ type }) => type === 'turn.failed');
  if (failed) return textAt(objectAt(failed, 'error'), 'message') ?? 'turn failed';
  const error = objects.findLastIndex(({ type }) => type === 'error');
  if (error < 0 || objects.slice(error).some(({ type }) => type === 'turn.completed')) return undefined;
  return textAt(objects[error] ?? {}, 'message') ?? 'error';
}

/** Each turn is a request, and so is what follows the use of a tool. Tools that were used side by side count as several. */
function requestsIn(objects: readonly JsonObject[]): number {
  const turns = objects.filter(({ type }) => type === 'turn.completed' || type === 'turn.failed').length;
  const items = objects.filter(({ type }) => type === 'item.completed').map((event) => objectAt(event, 'item').type);
  return turns + items.filter((type) => !WORDS.has(type)).length;
}
const WORDS: ReadonlySet<unknown> = new Set(['agent_message', 'reasoning', 'error', 'todo_list']);

/** Reads the usage of the last completed turn, which includes all turns before it. */
function usageOf(usage: JsonObject): ReportedUsage {
  return withoutUndefined<ReportedUsage>({
    provider: 'openai',
    inputTokens: countAt(usage, 'input_tokens'),
    cachedInputTokens: countAt(usage, 'cached_input_tokens'),
    cacheWriteTokens: countAt(usage, 'cache_write_input_tokens'),
    outputTokens: countAt(usage, 'output_tokens'),
    reasoningTokens: countAt(usage, 'reasoning_output_tokens'),
  });
}

function sessionIn(objects: readonly JsonObject[]): string | undefined {
  return textAt(objects.find(({ type }) => type === 'thread.started') ?? {}, 'thread_id');
}
