/**
 * Reads the reply of a program: its adapter, its result or its failure, and what it says about usage. Pure. calls.md 4 and 7.
 *
 * REPLY-1 The first evidence decides: envelope, known text, known status, words; a status other than 0 without any of these is a crash.
 * REPLY-2 Words never stop a run: they can only give a class that waits.
 * REPLY-3 A status other than 0 fails the attempt whatever the envelope says, and an envelope's error does beside a status of 0.
 */
import { withoutUndefined } from '../../values/without-undefined.js';
import type { Json } from '../../../journal/event.js';
import { isObject } from '../../../journal/json-object.js';
import { classOfExit } from '../evidence/known-exits.js';
import { classOfStatus } from '../evidence/http-status.js';
import { knownErrorOf, knownTextOf, KNOWN_TEXT_MAX } from '../evidence/known-texts.js';
import { retryAfterOf, type Headers } from '../evidence/times.js';
import { classOfWords } from '../evidence/words.js';
import type { FailureEvidence, Failure, FailureClass } from '../failure.js';
import { anthropic } from './anthropic.js';
import { claude } from './claude.js';
import { codex } from './codex.js';
import { envelopeAmong, envelopeOf, httpReplyOf, type HttpReply } from './envelope.js';
import { gemini } from './gemini.js';
import { isErrorObject, openai } from './openai.js';
import { opencode } from './opencode.js';
import { modelOf, namesProgram, programOf } from './program.js';
import type { Adapter, AdapterName, Envelope, Reading, Reply, ReportedUsage } from './reply.js';

const ADAPTERS: { readonly [N in AdapterName]: Adapter } = { claude, codex, gemini, opencode, openai, anthropic };

/** Programs whose output their adapter of the same name reads. */
const PROGRAMS = ['claude', 'codex', 'gemini', 'opencode'] as const;

const MESSAGE_UNITS_MAX = 200;

export interface ReplyContext {
  /** The option `reply`; without it the reply is recognised and its value is left alone. */
  readonly adapter?: AdapterName | 'text';
  /** The option says that the output is the result: beside a status of 0 it is no known text of a failure. */
  readonly isText?: boolean;
  /** The command line of a `cmd`, as it is written. */
  readonly commandLine?: string;
  readonly nowMs: number;
}

export interface ReadReply {
  /** `@read` for a function of the script. */
  readonly adapter: AdapterName | 'text' | `@${string}`;
  readonly failure?: Failure;
  /** The text result in the envelope, or the output as it is. */
  readonly text?: string;
  /** The structured result in the envelope. */
  readonly data?: Json;
  readonly usage?: ReportedUsage;
  readonly session?: string;
  readonly truncated?: true;
  /** Headers of an HTTP reply, names in small letters. */
  readonly headers?: Headers;
}

export function readReply(reply: Reply, context: ReplyContext): ReadReply {
  const http = namesKnownProgram(context.commandLine) ? undefined : httpReplyOf(reply.stdout);
  const output = http ? http.body : reply.stdout;
  const program = context.commandLine === undefined ? undefined : programOf(context.commandLine);
  const envelope = envelopeIn(
    output,
    context.adapter ?? (asksForJson(context.commandLine) ? PROGRAMS.find((name) => name === program) : undefined),
  );
  const isFailed = reply.exitCode !== 0 || (http !== undefined && classOfStatus(http.status) !== undefined);
  const adapter = adapterFor(context.adapter, program, envelope) ?? (isFailed ? adapterOfError(context, program, envelope) : undefined);
  const reading = adapter && envelope ? adapter.read(envelope, context.nowMs) : undefined;
  const read = withoutUndefined<Omit<ReadReply, 'adapter' | 'failure'>>({
    text: reading ? reading.text : output,
    data: reading?.data,
    usage: withModel(reading?.usage, context.commandLine),
    session: reading?.session,
    truncated: reading?.truncated,
    headers: http?.headers,
  });
  const isStream =
    envelope !== undefined && adapter !== undefined && (envelope.form === 'lines' || adapter.fits({ ...envelope, form: 'lines' }));
  const failure = failureOf({ reply, output, http, reading, isStream, program, hasAdapter: context.adapter !== undefined }, context);
  return { adapter: adapter?.name ?? 'text', ...read, ...(failure ? { failure } : {}) };
}

/** True where the command line has a model program print its reply as JSON. */
function asksForJson(commandLine: string | undefined): boolean {
  return (
    commandLine !== undefined && /(?:^|\s)(?:(?:--output-format|--format|-o)(?:\s+|=)(?:stream-)?json|--json)(?:\s|$)/.test(commandLine)
  );
}

/**
 * A program may print warnings around its reply. They are passed over only where the option, or an option of the program, says that there
 * is one. calls.md 7.2.
 */
function envelopeIn(output: string, chosen: ReplyContext['adapter']): Envelope | undefined {
  if (chosen === 'text') return undefined;
  const strict = envelopeOf(output);
  if (strict || chosen === undefined) return strict;
  const among = envelopeAmong(output);
  return among && ADAPTERS[chosen].fits(among) ? among : undefined;
}

/** Returns true where a model program printed the output, which is no HTTP reply: a result may begin with a status line. */
export function namesKnownProgram(commandLine: string | undefined): boolean {
  return commandLine !== undefined && PROGRAMS.some((name) => namesProgram(commandLine, name));
}

/** A reply that names no model is that of the model in the command line. calls.md 10.2. */
function withModel(usage: ReportedUsage | undefined, commandLine: string | undefined): ReportedUsage | undefined {
  if (!usage || usage.model !== undefined || usage.models !== undefined || commandLine === undefined) return usage;
  const model = modelOf(commandLine);
  return model === undefined ? usage : { model, ...usage };
}

function adapterFor(
  chosen: AdapterName | 'text' | undefined,
  program: string | undefined,
  envelope: Envelope | undefined,
): Adapter | undefined {
  if (chosen === 'text') return undefined;
  if (chosen !== undefined) return ADAPTERS[chosen];
  const own = PROGRAMS.find((name) => name === program);
  if (envelope === undefined) return undefined;
  if (own !== undefined) return ADAPTERS[own].fits(envelope) ? ADAPTERS[own] : undefined;
  return Object.values(ADAPTERS).find((adapter) => adapter.fits(envelope));
}

/** The body of a reply that failed anyway is no result: an error in it says why, whatever stands beside it. */
function adapterOfError({ adapter }: ReplyContext, program: string | undefined, envelope: Envelope | undefined): Adapter | undefined {
  const [reply] = envelope?.objects ?? [];
  if (adapter !== undefined || PROGRAMS.some((name) => name === program) || reply === undefined) return undefined;
  if (!isObject(reply.error)) return isErrorObject(reply) ? openai : undefined;
  return reply.type === 'error' ? anthropic : openai;
}

interface Evidences {
  readonly reply: Reply;
  /** Standard output without the head of an HTTP reply. */
  readonly output: string;
  readonly http: HttpReply | undefined;
  readonly reading: Reading | undefined;
  /** True where the reply is a stream, whole or cut. */
  readonly isStream: boolean;
  readonly program: string | undefined;
  /** An adapter was chosen, so that a reply which it can't read is a bad one. */
  readonly hasAdapter: boolean;
}

function failureOf(found: Evidences, context: ReplyContext): Failure | undefined {
  const envelope = envelopeFailure(found, context);
  // An envelope that names no reason says nothing about the class: its texts and the exit status may.
  if (envelope && envelope.class !== 'crash') return envelope;
  const other = textFailure(found, context) ?? statusFailure(found);
  return (other?.evidence === 'none' ? undefined : other) ?? envelope ?? other ?? unreadable(found, context);
}

function envelopeFailure({ http, reading, output }: Evidences, { nowMs }: ReplyContext): Failure | undefined {
  const failure = reading?.failure;
  const byStatus = http ? classOfStatus(http.status) : undefined;
  if (!failure && byStatus === undefined) return undefined;
  // A code in the body is more exact than the status, which is more exact than a body that names no known code.
  const failureClass = failure && (failure.class !== 'crash' || byStatus === undefined) ? failure.class : (byStatus ?? 'crash');
  return withoutUndefined<Failure>({
    ...failure,
    class: failureClass,
    evidence: 'envelope',
    message: firstLine(failure?.message ?? output),
    status: failure?.status ?? http?.status,
    retryAfterMs: failure?.retryAfterMs ?? (http ? retryAfterOf(http.headers, nowMs) : undefined),
  });
}

function textFailure({ reply, output, reading, program }: Evidences, context: ReplyContext): Failure | undefined {
  const { commandLine, nowMs, isText } = context;
  const isSilent = output.trim() === '';
  if ((reading || (isText && !isSilent)) && reply.exitCode === 0) return undefined;
  for (const name of PROGRAMS) {
    const isIts = program === name || (commandLine !== undefined && namesProgram(commandLine, name));
    if (!isIts) continue;
    const isError = reply.exitCode !== 0 || isSilent;
    const texts = isError ? [output, reply.stderr] : output.trim().length <= KNOWN_TEXT_MAX ? [output] : [];
    for (const text of texts) {
      const found = isError ? knownErrorOf(name, text, nowMs) : knownTextOf(name, text, nowMs);
      if (found) return { ...found, evidence: 'text', message: firstLine(text) };
    }
  }
  return undefined;
}

function statusFailure({ reply: { exitCode, stderr, stdout }, program, reading }: Evidences): Failure | undefined {
  if (exitCode === 0) return undefined;
  const said = stderr.trim() === '' ? (reading ? '' : stdout) : lastLines(stderr); // an envelope is no text for people
  const message = firstLine(said) || `exit status ${exitCode}`;
  const failure = (failureClass: FailureClass, evidence: FailureEvidence): Failure => ({ class: failureClass, evidence, message });
  const byExit = classOfExit(program, exitCode);
  if (byExit !== undefined) return failure(byExit, 'exit');
  // A program that is recognised has texts and statuses of its own, so words are no evidence about it.
  const byWords = PROGRAMS.some((name) => name === program) ? undefined : classOfWords(stderr);
  return byWords === undefined ? failure('crash', 'none') : failure(byWords, 'words');
}

/** Beside a status of 0: a stream that is cut, and with a chosen adapter a reply without a result. */
function unreadable({ reading, isStream, output, hasAdapter }: Evidences, { adapter }: ReplyContext): Failure | undefined {
  if (!hasAdapter) return undefined;
  if (reading?.cut && isStream) return { class: 'network', evidence: 'envelope', message: 'the stream ended before its last event' };
  const text = adapter === 'text' ? output : reading?.text;
  if (reading?.data !== undefined || (text !== undefined && text.trim() !== '')) return undefined;
  const message = reading && !reading.cut ? 'the reply has no result' : `the reply is not what the adapter ${adapter ?? 'text'} reads`;
  return { class: 'bad-reply', evidence: 'envelope', message: adapter === 'text' ? 'the reply is empty' : message };
}

function lastLines(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}

function firstLine(text: string): string {
  return (text.trim().split('\n')[0] ?? '').slice(0, MESSAGE_UNITS_MAX);
}
