/** What an answer of the world looks like in the journal. */
import type { Json, Payload } from '../../journal/event.js';
import type { BlobId } from '../../journal/ids.js';
import { canonicalJson, canonicalJsonIfPlain, isTooDeep, sha256 } from '../../journal/canonical.js';
import type { Frame } from '../runtime/frame.js';
import { fromNative, toJson } from '../values/native.js';
import type { Value } from '../values/value.js';
import { exceedingOutput } from '../world/process/output.js';
import type { EffectResult, EffectRequest, EffectKind } from '../world/world.js';
import { isRecordedByCall } from './deduplicate-effect.js';
import { hideLiterals } from './secret-literals.js';
import { isSecret, type SecretRegistry } from '../runtime/secret-registry.js';

/** What went into a request. */
export interface Involved {
  readonly values: readonly Value[];
  /** The request as it is written in the source, without the values. */
  readonly written?: string;
  /** Taken out of the answer before anybody gets it: the journal has what was gone on with. */
  readonly hides?: SecretRegistry;
}

type Outcome<Q extends EffectKind> = ({ readonly answer: EffectResult<Q> } | { readonly error: unknown }) & { readonly elapsedMs: number };

/** Undefined: it is recorded. */
export function recordEffect<Q extends EffectKind>(
  frame: Frame,
  question: Q,
  request: EffectRequest<Q>,
  outcome: Outcome<Q>,
  involved: Involved,
): Promise<void> | undefined {
  const { recorder, cache: answers, secrets } = frame.run;
  const asked = canonicalRequest(request);
  const asksSecret = frame.secret === true || involved.values.some(isSecret) || secrets.appearIn(asked);
  const answer = 'answer' in outcome ? keptOf(frame, question, request, outcome.answer, asksSecret) : undefined;
  const isKeptByTheCall = 'answer' in outcome && answer === undefined;
  const isSealed = asksSecret || (answer !== undefined && tellsSecret(frame, question, request, answer));
  const file = isSealed ? undefined : fileHash(question, request, outcome);
  const post = (digest: string, result: Payload | undefined): void =>
    recorder.post({
      type: 'effect.performed',
      op: frame.op.path,
      kind: question,
      subject: asksSecret
        ? discreetSubject(question, request, involved, frame)
        : subjectOf(question, request, isKeptByTheCall ? CALL_CODE_UNITS : CODE_UNITS),
      request: digest,
      ...(result && { result }),
      ...(file === undefined ? {} : { file }),
      ...('error' in outcome ? errorFacts(outcome.error, secrets) : {}),
      elapsedMs: Math.round(outcome.elapsedMs * 1000) / 1000,
    });
  if (isSealed) return sealed();
  const result = answer === undefined ? outputOf(outcome) : answers.payload(answer);
  if (result instanceof Promise) return result.then((payload) => post(sha256(asked), payload));
  post(sha256(asked), result);
  return undefined;

  async function sealed(): Promise<void> {
    const digest = asksSecret ? await answers.digest(asked) : sha256(asked);
    post(digest, answer === undefined ? undefined : await answers.secretPayload(answer, digest));
  }
}

/** What a command has written, where that is too large for an answer. */
function outputOf(outcome: object): Payload | undefined {
  const kept = 'error' in outcome ? exceedingOutput(outcome.error)?.kept : undefined;
  return kept && { ...kept, text: true };
}

/** A digest of it tells whether the same is asked again. How a command is handed to the shell is no part of what is asked. */
export function canonicalRequest(request: object): string {
  const { executed, isSecret: hides, ...asked } = request as { executed?: string; isSecret?: true };
  const recorded = executed === undefined && hides === undefined ? request : asked;
  return canonicalJsonIfPlain(recorded) ?? canonicalJson(plain(recorded));
}

function errorFacts(error: unknown, secrets: SecretRegistry): { error: string; errorCode?: string; errorHint?: string } {
  const { code, hint } = error as { code?: unknown; hint?: unknown };
  return {
    error: secrets.messageOf(error),
    ...(typeof code === 'string' ? { errorCode: code } : {}),
    ...(typeof hint === 'string' ? { errorHint: secrets.redact(hint) } : {}),
  };
}

/** What is recorded of an answer; undefined: nothing. */
function keptOf<Q extends EffectKind>(
  frame: Frame,
  question: Q,
  request: EffectRequest<Q>,
  answer: EffectResult<Q>,
  asksSecret: boolean,
): Json | undefined {
  if (question === 'node.import') return undefined; // functions of the host can't be kept
  if (question === 'stream.write') return (request as EffectRequest<'stream.write'>).text;
  if (asksSecret || !isRecordedByCall(frame, question, request, answer))
    return plain(question === 'code.run' ? jsonSays(answer as EffectResult<'code.run'>) : answer);
  return question === 'command.run' ? { durationMs: (answer as EffectResult<'command.run'>).durationMs } : undefined;
}

/** Numbers that JSON has no words for are read as results by their names: these are kept. */
function jsonSays(answer: EffectResult<'code.run'>): EffectResult<'code.run'> {
  const { value } = answer;
  if (typeof value === 'bigint') return { ...answer, value: JSON.stringify(String(value)) };
  return typeof value === 'number' && !Number.isFinite(value) ? { ...answer, value: String(value) } : answer;
}

/** A script with a secret written in it, the user's own environment, something that the run knows to be secret. */
function tellsSecret(frame: Frame, question: EffectKind, request: object, answer: Json): boolean {
  const { secrets } = frame.run;
  if (question === 'env.read') return Object.keys((answer as { values: object }).values).some((name) => name.startsWith('MLLD_'));
  if (question === 'file.read' && /\.(mld|mlld|md)$/i.test((request as { path: string }).path)) {
    const { text = '' } = answer as { text?: string };
    const hidden = hideLiterals(text);
    hidden?.literals.forEach((literal) => secrets.add(literal));
    if (hidden) return true;
  }
  return !secrets.isEmpty && secretsAppearIn(answer, secrets);
}

function secretsAppearIn(answer: Json, secrets: SecretRegistry): boolean {
  try {
    return secrets.appearIn(canonicalJson(answer));
  } catch (error) {
    if (isTooDeep(error)) return false; // and too deep to be recorded
    throw error;
  }
}

/** As much as can be said of a request with a secret in it: the source, a path, the name of what it is. */
function discreetSubject(question: EffectKind, request: object, { written }: Involved, { run: { secrets }, secret }: Frame): string {
  const { path, name, stream } = request as { [member: string]: unknown };
  const about = (secret ? undefined : written) ?? path ?? name ?? stream ?? question;
  return shortened(secrets.redact(String(about))); // cut first, part of a secret could be left
}

const SUBJECT_UNITS = 200;
/** Code is known by its beginning. */
const CODE_UNITS = 40;
/** The whole body of a call: its definition stands before it. */
const CALL_CODE_UNITS = 20;
/** All of it is the answer that is kept. */
const WRITTEN_UNITS = 60;

export function subjectOf(question: EffectKind, request: object, codeUnits = CODE_UNITS): string {
  const { path, pattern, code, name, module, stream, text } = request as { [member: string]: unknown };
  const about = path ?? pattern ?? code ?? name ?? module ?? (stream === undefined ? question : `${String(stream)}: ${String(text)}`);
  return shortened(String(about), question === 'code.run' ? codeUnits : question === 'stream.write' ? WRITTEN_UNITS : SUBJECT_UNITS);
}

function shortened(text: string, units = SUBJECT_UNITS): string {
  const line = text.trim();
  return line.length > units ? `${line.slice(0, units - 1)}…` : line;
}

function fileHash<Q extends EffectKind>(question: Q, request: EffectRequest<Q>, outcome: Outcome<Q>): BlobId | undefined {
  const text =
    question === 'file.write' || question === 'file.append'
      ? (request as { text: string }).text
      : question === 'file.read' && 'answer' in outcome
        ? (outcome.answer as { text?: string }).text
        : undefined;
  return text === undefined ? undefined : (sha256(text) as string as BlobId);
}

/** Requests and answers may hold values of the host; the journal keeps what JSON can say. */
function plain(value: unknown): Json {
  return toJson(fromNative(value));
}
