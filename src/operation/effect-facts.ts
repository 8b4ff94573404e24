/** The facts that record an effect. */
import { canonicalJson, canonicalJsonIfPlain, isTooDeep, sha256 } from '../../journal/canonical.js';
import type { EventOf, Json, Payload } from '../../journal/event.js';
import type { BlobId } from '../../journal/ids.js';
import { isSecret, type SecretRegistry } from '../runtime/secrets/secret-registry.js';
import { fromNative, toJson } from '../values/native.js';
import type { Value } from '../values/value.js';
import { exceedingOutput } from '../world/process/output.js';
import { WorldError, type EffectResult, type EffectRequest, type EffectKind } from '../world/world.js';
import { isRecordedByCall } from './deduplicate-effect.js';
import type { EffectFrame } from './effect-frame.js';
import { hideLiterals } from './secret-literals.js';

/** The values that went into a request. */
export interface Involved {
  readonly values: readonly Value[];
  /** The request as it is written in the source, without the values. */
  readonly written?: string;
  /** Secrets that are redacted from the result before the script gets it, so that the journal has what the run continued with. */
  readonly hides?: SecretRegistry;
}

type EffectOutcome<Q extends EffectKind> = ({ readonly result: EffectResult<Q> } | { readonly error: unknown }) & {
  readonly elapsedMs: number;
  /** The request as it was before the effect, where the effect can change it. */
  readonly canonical?: string | undefined;
};

/** Returns undefined when the fact is posted already. */
export function recordEffect<Q extends EffectKind>(
  frame: EffectFrame,
  kind: Q,
  request: EffectRequest<Q>,
  outcome: EffectOutcome<Q>,
  involved: Involved,
): Promise<void> | undefined {
  const { recorder, cache, secrets } = frame.run;
  const canonical = outcome.canonical ?? canonicalRequest(request);
  const hasSecret = frame.secret === true || involved.values.some(isSecret) || secrets.appearIn(canonical);
  const kept = 'result' in outcome ? keptOf(frame, kind, request, outcome.result, hasSecret) : undefined;
  const isKeptByTheCall = 'result' in outcome && kept === undefined;
  const isSealed = hasSecret || (kept !== undefined && holdsSecret(frame, kind, request, kept));
  const file = isSealed ? undefined : fileHash(kind, request, outcome);
  const post = (digest: string, result: Payload | undefined): void =>
    recorder.post({
      type: 'effect.performed',
      op: frame.op.path,
      kind,
      subject: hasSecret
        ? discreetSubject(kind, request, involved, frame)
        : subjectOf(kind, request, isKeptByTheCall ? CALL_CODE_UNITS : CODE_UNITS),
      request: digest,
      elapsedMs: Math.round(outcome.elapsedMs * 1000) / 1000,
      ...(result && { result }),
      ...(file !== undefined && { file }),
      ...('error' in outcome && errorFacts(outcome.error, secrets)),
    });
  if (isSealed) return sealed();
  const stored = kept === undefined ? outputOf(outcome) : cache.payload(kept, { mayContinue: kind === 'code.run' });
  if (stored instanceof Promise) return stored.then((payload) => post(sha256(canonical), payload));
  post(sha256(canonical), stored);
  return undefined;

  async function sealed(): Promise<void> {
    const digest = hasSecret ? await cache.digest(canonical) : sha256(canonical);
    post(digest, kept === undefined ? undefined : await cache.secretPayload(kept, digest));
  }
}

/** Returns the output of a command where it is too large to be its result. */
function outputOf(outcome: object): Payload | undefined {
  const kept = 'error' in outcome ? exceedingOutput(outcome.error)?.kept : undefined;
  return kept && { ...kept, text: true };
}

/** The digest of this text identifies the request. The way that a command is handed to the shell is not a part of it. */
export function canonicalRequest(request: object): string {
  const recorded = 'executed' in request || 'words' in request || 'isSecret' in request ? withoutHandling(request) : request;
  return canonicalJsonIfPlain(recorded) ?? canonicalJson(plain(recorded));
}

function withoutHandling(request: object): object {
  const { executed: _, words: __, isSecret: ___, ...others } = request as Partial<EffectRequest<'command.run'>>;
  return others;
}

function errorFacts(
  error: unknown,
  secrets: SecretRegistry,
): Pick<EventOf<'effect.performed'>, 'errorCode' | 'errorHint' | 'errorAt'> & { readonly error: string } {
  const { code, hint } = error as { code?: unknown; hint?: unknown };
  return {
    error: secrets.messageOf(error),
    ...(typeof code === 'string' ? { errorCode: code } : {}),
    ...(typeof hint === 'string' ? { errorHint: secrets.redact(hint) } : {}),
    ...(error instanceof WorldError && error.place ? { errorAt: error.place } : {}),
  };
}

/** Returns the part of a result that is recorded; undefined: nothing. */
function keptOf<Q extends EffectKind>(
  frame: EffectFrame,
  kind: Q,
  request: EffectRequest<Q>,
  result: EffectResult<Q>,
  hasSecret: boolean,
): Json | undefined {
  if (kind === 'node.import') return undefined; // functions of the host can't be recorded
  if (kind === 'stream.write') return (request as EffectRequest<'stream.write'>).text;
  if (hasSecret || !isRecordedByCall(frame, kind, request, result))
    return plain(kind === 'code.run' ? withJsonValue(result as EffectResult<'code.run'>) : result);
  return kind === 'command.run' ? { durationMs: (result as EffectResult<'command.run'>).durationMs } : undefined;
}

/** Numbers that JSON can't express are recorded by their names, which results are read from. */
function withJsonValue(result: EffectResult<'code.run'>): EffectResult<'code.run'> {
  const { value } = result;
  if (typeof value === 'bigint') return { ...result, value: JSON.stringify(String(value)) };
  return typeof value === 'number' && !Number.isFinite(value) ? { ...result, value: String(value) } : result;
}

/** True for a script with a secret written in it, the user's own environment, and a result with a known secret in it. */
function holdsSecret(frame: EffectFrame, kind: EffectKind, request: object, result: Json): boolean {
  const { secrets } = frame.run;
  if (kind === 'env.read') return Object.keys((result as { values: object }).values).some((name) => name.startsWith('MLLD_'));
  if (kind === 'file.read' && /\.(mld|mlld|md)$/i.test((request as { path: string }).path)) {
    const { text = '' } = result as { text?: string };
    const hidden = hideLiterals(text);
    hidden?.literals.forEach((literal) => secrets.add(literal));
    if (hidden) return true;
  }
  return !secrets.isEmpty && secretsAppearIn(result, secrets);
}

function secretsAppearIn(result: Json, secrets: SecretRegistry): boolean {
  try {
    return secrets.appearIn(canonicalJson(result));
  } catch (error) {
    if (isTooDeep(error)) return false; // and too deep to be recorded
    throw error;
  }
}

/** Returns what may be recorded of a request with a secret in it: its source, a path, or the kind of effect. */
function discreetSubject(kind: EffectKind, request: object, { written }: Involved, { run: { secrets }, secret }: EffectFrame): string {
  const { path, name, stream } = request as { [member: string]: unknown };
  const about = (secret ? undefined : written) ?? path ?? name ?? stream ?? kind;
  return cutSubject(secrets.redact(String(about))); // before it is cut: part of a secret could be left
}

const SUBJECT_UNITS = 200;
/** Code is known by its beginning. */
const CODE_UNITS = 40;
/** The whole body of a call, which its recorded definition has. */
const CALL_CODE_UNITS = 20;
/** The whole text is in the recorded result. */
const WRITTEN_UNITS = 60;

export function subjectOf(kind: EffectKind, request: object, codeUnits = CODE_UNITS): string {
  const { path, pattern, code, name, module, stream, text } = request as { [member: string]: unknown };
  const about = path ?? pattern ?? code ?? name ?? module ?? (stream === undefined ? kind : `${String(stream)}: ${String(text)}`);
  return cutSubject(String(about), kind === 'code.run' ? codeUnits : kind === 'stream.write' ? WRITTEN_UNITS : SUBJECT_UNITS);
}

/** Cuts anywhere: every effect is cut, and looking for the border of a character would cost it more than the rest. */
function cutSubject(text: string, units = SUBJECT_UNITS): string {
  const line = text.trim();
  return line.length > units ? `${line.slice(0, units - 1)}…` : line;
}

function fileHash<Q extends EffectKind>(kind: Q, request: EffectRequest<Q>, outcome: EffectOutcome<Q>): BlobId | undefined {
  const text =
    kind === 'file.write' || kind === 'file.append'
      ? (request as { text: string }).text
      : kind === 'file.read' && 'result' in outcome
        ? (outcome.result as { text?: string }).text
        : undefined;
  return text === undefined ? undefined : (sha256(text) as string as BlobId);
}

/** Requests and results may hold values of the host; the journal records what JSON can express. */
function plain(value: unknown): Json {
  return toJson(fromNative(value));
}
