/** Decides whether the body of an attempt gave a result, and which. calls.md 4 and 7. */
import type { Attempt } from '../../calls/attempt.js';
import { failureOfThrown } from '../../calls/evidence/thrown.js';
import type { Failure } from '../../calls/failure.js';
import type { ReplyFunction, ReplyPlace } from '../../calls/options.js';
import type { ReadReply } from '../../calls/replies/read-reply.js';
import type { ResultSchema } from '../../calls/schema/compile-schema.js';
import { AttemptFailed, callFailureOf } from '../../runtime/calls/call-failure.js';
import type { LlmCall } from '../../runtime/calls/llm-call.js';
import type { Awaitable } from '../../runtime/awaitable.js';
import { Signal, type Outcome } from '../../runtime/completion.js';
import { Denial } from '../../runtime/denial.js';
import { endsTheRun } from '../../runtime/errors.js';
import { GuardRetry } from '../../runtime/guard-retry.js';
import { isDataObject } from '../../values/plain-object.js';
import { textOf } from '../../values/text.js';
import { dataOf, flow, metadataOf, type Data, type Value } from '../../values/value.js';
import { exceedingOutput } from '../../world/process/output.js';
import { readByFunction, type ReadByFunction } from '../replies/read-by-function.js';
import { fitToSchema, writtenText, replyText, resultIn, type Given } from '../replies/result-of-reply.js';

export type Judgement =
  | { readonly kind: 'completed'; readonly value: Outcome }
  | {
      readonly kind: 'failed';
      readonly failure: Failure;
      /** The error that the body threw. */
      readonly error?: unknown;
      /** The value that the call would have without its failure. */
      readonly printed?: Value;
      /** The rules of the schema that the reply broke. */
      readonly problem?: readonly string[];
      /** The schema refused the whole reply that this adapter reads, and would have taken the result in it. */
      readonly wholeReplyOf?: ReadReply['adapter'];
    }
  /** The call ends with this error, and no attempt follows. */
  | { readonly kind: 'ended'; readonly error: unknown };

type Judged = Pick<LlmCall, 'isCommand' | 'language'>;

/**
 * `placeOf` returns the call, for a function that reads its reply. The reports of the body are read before its result is judged: a reported
 * failure fails the attempt.
 */
export function judge(attempt: Attempt, llm: Judged, work: () => Promise<Outcome>, placeOf?: () => ReplyPlace): Promise<Judgement> {
  return begun(work).then(
    (outcome) => {
      attempt.report?.close();
      return judgeOutcome(outcome, attempt, llm, placeOf);
    },
    (error: unknown) => {
      attempt.report?.close();
      return judgeError(attempt, error);
    },
  );
}

/** A body may throw before it waits for anything: that is its failure as well. */
function begun(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Returns a promise only where a function reads the reply. */
function judgeOutcome(outcome: Outcome, attempt: Attempt, llm: Judged, placeOf: (() => ReplyPlace) | undefined): Awaitable<Judgement> {
  const failure = attempt.reported ?? attempt.failedInside;
  if (outcome instanceof Signal) return failure ? { kind: 'failed', failure } : { kind: 'completed', value: outcome };
  const known = attempt.reply ?? replyIn(outcome, attempt, llm);
  const { reply: adapter } = attempt.options;
  const isFunction = typeof adapter === 'object' && known !== undefined && placeOf !== undefined && !failure;
  if (!isFunction) return judgeReply({ known, failure, outcome, attempt });
  return readWith(adapter, known, outcome, attempt, placeOf()).then((byFunction) =>
    byFunction.kind === 'ended' ? byFunction : judgeReply({ known, failure, outcome, attempt, byFunction }),
  );
}

interface ReadOutcome {
  readonly known: ReadReply | undefined;
  /** The failure that the body reported. */
  readonly failure: Failure | undefined;
  readonly outcome: Value;
  readonly attempt: Attempt;
  readonly byFunction?: ReadByFunction;
}

function judgeReply({ known, failure, outcome, attempt, byFunction }: ReadOutcome): Judgement {
  const reply = byFunction?.reply ?? known;
  const found = failure ?? reply?.failure;
  if (found) return { kind: 'failed', failure: found, printed: outcome, ...problemOf(found, attempt) };
  const isInner = reply !== undefined && attempt.options.reply !== undefined;
  const returned = byFunction?.returned;
  const result = isInner ? flow(resultIn(reply, outcome), returned === undefined ? [] : [returned]) : outcome;
  const written = isInner ? undefined : writtenFor(outcome, attempt);
  const given = { ...(isInner && { data: reply.data }), ...(written !== undefined && { written }) };
  const { schema } = attempt.options;
  const fit = fitting(result, given, schema) ?? { kind: 'completed', value: result };
  return fit.kind === 'failed' && !isInner && reply && fitsInside(reply, outcome, schema) ? { ...fit, wholeReplyOf: reply.adapter } : fit;
}

/** An output that is no envelope is itself the text of its reply. */
function fitsInside(reply: ReadReply, outcome: Value, schema: ResultSchema | undefined): boolean {
  return reply.adapter !== 'text' && fitting(resultIn(reply, outcome), { data: reply.data }, schema)?.kind === 'completed';
}

type Read = (ReadByFunction & { readonly kind: 'read' }) | Extract<Judgement, { kind: 'ended' }>;

async function readWith(adapter: ReplyFunction, known: ReadReply, printed: Value, attempt: Attempt, place: ReplyPlace): Promise<Read> {
  const { raw = { stdout: replyText(printed), stderr: '', exitCode: 0 } } = attempt;
  const durationMs = metadataOf(printed)?.command?.durationMs ?? attempt.elapsedMs;
  try {
    const read = await readByFunction(adapter, { ...raw, durationMs }, { known, printed, place, nowMs: attempt.nowMs() });
    attempt.reply = read.reply; // its usage and session are those of the attempt
    return { kind: 'read', ...read };
  } catch (error) {
    return { kind: 'ended', error };
  }
}

/** Returns the text in its quotes where the result is what is inside them. */
function writtenFor(value: Value, { quoted }: Attempt): string | undefined {
  return quoted && writtenText(value) === quoted.text ? quoted.written : undefined;
}

/** Undefined where there is no schema. */
function fitting(result: Value, given: Given, schema: ResultSchema | undefined): Judgement | undefined {
  if (!schema) return undefined;
  const fit = fitToSchema(result, schema, given);
  if (fit.kind === 'fits') return { kind: 'completed', value: fit.value };
  return { ...badReply(fit.problems), printed: result };
}

function badReply(problem: readonly string[]): Extract<Judgement, { kind: 'failed' }> {
  return { kind: 'failed', failure: { class: 'bad-reply', evidence: 'envelope', message: problem.join('; ') }, problem };
}

function judgeError(attempt: Attempt, error: unknown): Judgement {
  const isDecided = error instanceof Denial || error instanceof GuardRetry || callFailureOf(error) !== undefined;
  const isOurs = error instanceof AttemptFailed;
  if (isDecided || (!isOurs && endsTheRun(error)) || exceedingOutput(error)) return { kind: 'ended', error };
  const failure = attempt.reported ?? attempt.failedInside ?? (isOurs ? error.failure : undefined);
  if (failure) return { kind: 'failed', failure, error, ...problemOf(failure, attempt) };
  const { message } = error as Error;
  const thrown = failureOfThrown(error, attempt.nowMs());
  return { kind: 'failed', failure: { class: 'crash', evidence: 'none', ...thrown, message: firstLine(message) }, error };
}

/** Reads a reply that no command of the call printed: what its code returned, or the output of a command further inside. */
function replyIn(value: Value, attempt: Attempt, { isCommand, language }: Judged): ReadReply | undefined {
  const command = isCommand ? metadataOf(value)?.command : undefined;
  if (command && command.exitCode !== 0) {
    const { exitCode, stderr, source } = command;
    return attempt.readOwn({ stdout: textOf(value), stderr, exitCode }, source === 'cmd' ? command.command : undefined);
  }
  const hasAdapter = attempt.options.reply !== undefined;
  const isCode = language === 'js' || language === 'node';
  if (!hasAdapter && !(isCode && mayBeReply(dataOf(value)))) return undefined;
  return attempt.readOwn({ stdout: writtenFor(value, attempt) ?? replyText(value), stderr: '', exitCode: 0 });
}

/** Members of which at least one is in every reply that is recognised by its shape. */
const REPLY_MEMBERS = ['type', 'object', 'choices', 'response', 'error', 'session_id'];

/** A text that code returned is no HTTP reply: what `fetch` gives has no status line, and the result of a model may begin with one. */
function mayBeReply(data: Data | undefined): boolean {
  const reply = Array.isArray(data) && data.length === 1 ? dataOf(data[0] as Value) : data; // an error may be in a list of one
  return isDataObject(reply) && REPLY_MEMBERS.some((member) => Object.hasOwn(reply, member));
}

/** The next attempt is told about a bad reply where its result must fit a schema. */
function problemOf({ class: failureClass, message }: Failure, { options }: Attempt): { problem?: readonly string[] } {
  return options.schema && failureClass === 'bad-reply' && message !== '' ? { problem: [message] } : {};
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
