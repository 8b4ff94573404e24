/** A chat completion or a response of the OpenAI interfaces. calls.md 7.5 and 7.5.4. */
import { isObject } from '../../../journal/json-object.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import { classOfError } from '../evidence/http-status.js';
import { countAt, objectAt, objectsAt, textAt } from './json-members.js';
import type { Adapter, JsonObject, ReportedUsage, Reading } from './reply.js';

export const openai: Adapter = {
  name: 'openai',
  fits({ form, objects }) {
    const [reply = {}] = objects;
    if (objects.length === 1 && isErrorAlone(reply)) return true;
    return form === 'object' && (isChat(reply) || isResponse(reply) || isErrorItself(reply));
  },
  read({ objects }): Reading {
    const [reply = {}] = objects;
    const common = withoutUndefined<Reading>({ usage: usageOf(reply) });
    const error = errorIn(reply);
    if (error) return { ...common, failure: failureOf(error) };
    return { ...common, ...(isResponse(reply) ? readResponse(reply) : readChat(reply)) };
  },
};

/** Members of replies that say nothing of their content. */
const BESIDE_ERRORS: ReadonlySet<string> = new Set(
  'error request_id requestId user_id id object created model provider trace_id'.split(' '),
);
/** Members of an error that is the body itself. */
const OF_ERROR: ReadonlySet<string> = new Set('object message type param code raw_status_code request_id requestId id'.split(' '));
/** `DeploymentNotFound`, not `E42`. */
const WORDS_OF_CODE = /^(?:[A-Z][a-z]+){2,}$/;

/**
 * True for the body of an error, of this interface or of one that follows it, also in a list of one. A result may have an error in it, so
 * there is nothing else in the body, and the error is one of an interface by its type or its code.
 */
function isErrorAlone(reply: JsonObject): boolean {
  const { error, choices } = reply;
  if (!isObject(error) || typeof error.message !== 'string') return false;
  const isEmpty = Array.isArray(choices) && choices.length === 0;
  if (!Object.keys(reply).every((name) => BESIDE_ERRORS.has(name) || (name === 'choices' && isEmpty))) return false;
  if (classOfError(statusIn(error), [error.code, error.type]) !== undefined || String(error.type).endsWith('_error')) return true;
  return 'code' in error && ('type' in error || 'param' in error || WORDS_OF_CODE.test(String(error.code)));
}

/**
 * True for the error of an interface whose errors are no members of the body: `{"object":"error","message":"…"}`. What is wrong with a
 * request may be told as an object; a result could have such a member, too, so the type or the status has to be one of an error.
 */
export function isErrorObject(reply: JsonObject): boolean {
  const { object, message, type } = reply;
  if (object !== 'error') return false;
  return typeof message === 'string' || (isObject(message) && (statusIn(reply) !== undefined || String(type).endsWith('_error')));
}

/** True for one with nothing else beside it. A list of one is a result. */
function isErrorItself(reply: JsonObject): boolean {
  return isErrorObject(reply) && Object.keys(reply).every((name) => OF_ERROR.has(name));
}

function errorIn(reply: JsonObject): JsonObject | undefined {
  if (isObject(reply.error)) return reply.error;
  return isErrorObject(reply) ? reply : undefined;
}

function isChat(reply: JsonObject): boolean {
  const [choice] = objectsAt(reply, 'choices');
  return choice !== undefined && isObject(choice.message);
}

function isResponse(reply: JsonObject): boolean {
  return reply.object === 'response' && Array.isArray(reply.output);
}

function readChat(reply: JsonObject): Reading {
  const [choice = {}] = objectsAt(reply, 'choices');
  const message = objectAt(choice, 'message');
  const refusal = textAt(message, 'refusal');
  if (refusal !== undefined) return { failure: { class: 'content', message: refusal } };
  if (choice.finish_reason === 'content_filter') return { failure: { class: 'content', message: 'content_filter' } };
  return {
    ...withoutUndefined<Reading>({ text: textAt(message, 'content') }),
    ...(choice.finish_reason === 'length' ? { truncated: true as const } : {}),
  };
}

function readResponse(reply: JsonObject): Reading {
  const parts = objectsAt(reply, 'output')
    .filter(({ type }) => type === 'message')
    .flatMap((message) => objectsAt(message, 'content'));
  const refusal = parts.find(({ type }) => type === 'refusal');
  if (refusal) return { failure: { class: 'content', message: textAt(refusal, 'refusal') ?? 'refusal' } };
  if (objectAt(reply, 'incomplete_details').reason === 'content_filter')
    return { failure: { class: 'content', message: 'the response was ended by the content filter' } };
  if (reply.status === 'failed') return { failure: { class: 'crash', message: 'the response failed' } };
  const texts = parts.filter(({ type }) => type === 'output_text').map((part) => textAt(part, 'text') ?? '');
  return { ...(texts.length > 0 ? { text: texts.join('') } : {}), ...(reply.status === 'incomplete' ? { truncated: true as const } : {}) };
}

function failureOf(error: JsonObject): NonNullable<Reading['failure']> {
  const status = statusIn(error);
  const failureClass = classOfError(status, [error.code, error.type]) ?? 'crash';
  return { class: failureClass, message: messageOf(error), ...(status !== undefined && { status }) };
}

function messageOf({ message }: JsonObject): string {
  if (isObject(message)) return JSON.stringify(message);
  return typeof message === 'string' ? message : 'error';
}

/** Some interfaces have the HTTP status as the code, as a number or as a text, and some beside a code of their own. */
function statusIn({ code, raw_status_code: status }: JsonObject): number | undefined {
  const found = [code, status].find((each) => /^[45]\d\d$/.test(String(each)));
  return found === undefined ? undefined : Number(found);
}

function usageOf(reply: JsonObject): ReportedUsage | undefined {
  const usage = objectAt(reply, 'usage');
  const details = (...names: readonly string[]): JsonObject =>
    names.map((name) => objectAt(usage, name)).find((found) => Object.keys(found).length > 0) ?? {};
  const inputTokens = countAt(usage, 'prompt_tokens') ?? countAt(usage, 'input_tokens');
  if (inputTokens === undefined) return undefined;
  return withoutUndefined<ReportedUsage>({
    model: textAt(reply, 'model'),
    provider: 'openai',
    inputTokens,
    cachedInputTokens: countAt(details('prompt_tokens_details', 'input_tokens_details'), 'cached_tokens'),
    outputTokens: countAt(usage, 'completion_tokens') ?? countAt(usage, 'output_tokens'),
    reasoningTokens: countAt(details('completion_tokens_details', 'output_tokens_details'), 'reasoning_tokens'),
  });
}
