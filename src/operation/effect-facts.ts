/** What an answer of the world looks like in the journal. */
import type { Json } from '../../journal/event.js';
import type { BlobId } from '../../journal/ids.js';
import { canonicalJson, sha256 } from '../../journal/canonical.js';
import type { Frame } from '../language/frame.js';
import { fromNative, toJson } from '../values/native.js';
import type { Value } from '../values/value.js';
import type { Answer, Ask, Question } from '../world/world.js';
import { hideLiterals } from './secret-literals.js';
import { isSecret } from './secret-texts.js';

/** What went into a request. */
export interface Involved {
  readonly values: readonly Value[];
  /** The request as it is written in the source, without the values. */
  readonly written?: string;
}

type Outcome<Q extends Question> = ({ readonly answer: Answer<Q> } | { readonly error: unknown }) & { readonly elapsedMs: number };

export async function recordEffect<Q extends Question>(
  frame: Frame,
  question: Q,
  request: Ask<Q>,
  outcome: Outcome<Q>,
  involved: Involved,
): Promise<void> {
  const { recorder, answers, secrets } = frame.run;
  const asked = canonicalJson(plain(request));
  const asksSecret = frame.secret === true || involved.values.some(isSecret) || secrets.appearIn(asked);
  const digest = asksSecret ? await answers.digest(asked) : sha256(asked);
  const isKept = question !== 'node.import' && !isKeptByCall(frame, question); // functions of the host can't be kept
  const answer = 'answer' in outcome && isKept ? plain(outcome.answer) : undefined;
  const isSealed = asksSecret || (answer !== undefined && tellsSecret(frame, question, request, answer));
  const result =
    answer === undefined ? {} : { result: isSealed ? await answers.secretPayload(answer, digest) : await answers.payload(answer) };
  const file = isSealed ? undefined : fileHash(question, request, outcome);
  recorder.post({
    type: 'effect.performed',
    op: frame.op.path,
    kind: question,
    subject: asksSecret ? discreetSubject(question, request, involved, frame) : subjectOf(question, request),
    request: digest,
    ...result,
    ...(file === undefined ? {} : { file }),
    ...('error' in outcome ? { error: secrets.messageOf(outcome.error) } : {}),
    elapsedMs: Math.round(outcome.elapsedMs * 1000) / 1000,
  });
}

/** The answer of a call's own body is the result of the call: it is kept once, there. */
function isKeptByCall(frame: Frame, question: Question): boolean {
  return (question === 'code.run' || question === 'command.run') && frame.bodyCode !== undefined && frame.context.checkpoint?.key != null;
}

/** A script with a secret written in it, the user's own environment, something that the run knows to be secret. */
function tellsSecret(frame: Frame, question: Question, request: object, answer: Json): boolean {
  const { secrets } = frame.run;
  if (question === 'env.read') return Object.keys((answer as { values: object }).values).some((name) => name.startsWith('MLLD_'));
  if (question === 'file.read' && /\.(mld|mlld|md)$/i.test((request as { path: string }).path)) {
    const { text = '' } = answer as { text?: string };
    const hidden = hideLiterals(text);
    hidden?.literals.forEach((literal) => secrets.learn(literal));
    if (hidden) return true;
  }
  return secrets.appearIn(canonicalJson(answer));
}

/** As much as can be said of a request with a secret in it: the source, a path, the name of what it is. */
function discreetSubject(question: Question, request: object, { written }: Involved, { run: { secrets }, secret }: Frame): string {
  const { path, name, stream } = request as { [member: string]: unknown };
  const about = (secret ? undefined : written) ?? path ?? name ?? stream ?? question;
  return secrets.hide(shortened(String(about)));
}

const SUBJECT_UNITS = 200;
/** Code is known by its beginning; its definition is in the journal anyway. */
const CODE_UNITS = 40;

function subjectOf(question: Question, request: object): string {
  const { path, pattern, code, name, module, stream, text } = request as { [member: string]: unknown };
  const about = path ?? pattern ?? code ?? name ?? module ?? (stream === undefined ? question : `${String(stream)}: ${String(text)}`);
  return shortened(String(about), question === 'code.run' ? CODE_UNITS : SUBJECT_UNITS);
}

function shortened(text: string, units = SUBJECT_UNITS): string {
  const line = text.trim();
  return line.length > units ? `${line.slice(0, units - 1)}…` : line;
}

function fileHash<Q extends Question>(question: Q, request: Ask<Q>, outcome: Outcome<Q>): BlobId | undefined {
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
