/** What an answer of the world looks like in the journal. */
import type { Json } from '../../journal/event.js';
import type { BlobId } from '../../journal/ids.js';
import { canonicalJson, sha256 } from '../../journal/canonical.js';
import type { Frame } from '../language/frame.js';
import { fromNative, toJson } from '../values/native.js';
import type { Answer, Ask, Question } from '../world/world.js';

type Outcome<Q extends Question> = ({ readonly answer: Answer<Q> } | { readonly error: unknown }) & { readonly elapsedMs: number };

export async function recordEffect<Q extends Question>(frame: Frame, question: Q, request: Ask<Q>, outcome: Outcome<Q>): Promise<void> {
  const { recorder, answers } = frame.run;
  const subject = subjectOf(question, request);
  const asked = canonicalJson(plain(request));
  const file = fileHash(question, request, outcome);
  const isKept = question !== 'node.import' && !isKeptByCall(frame, question); // functions of the host can't be kept
  const result = 'answer' in outcome && isKept ? { result: await answers.payload(plain(outcome.answer)) } : {};
  recorder.post({
    type: 'effect.performed',
    op: frame.op.path,
    kind: question,
    subject,
    request: sha256(asked),
    ...result,
    ...(file === undefined ? {} : { file }),
    ...('error' in outcome ? { error: outcome.error instanceof Error ? outcome.error.message : String(outcome.error) } : {}),
    elapsedMs: Math.round(outcome.elapsedMs * 1000) / 1000,
  });
}

/** The answer of a call's own body is the result of the call: it is kept once, there. */
function isKeptByCall(frame: Frame, question: Question): boolean {
  return (question === 'code.run' || question === 'command.run') && frame.bodyCode !== undefined && frame.context.checkpoint?.key != null;
}

const SUBJECT_UNITS = 200;

function subjectOf(question: Question, request: object): string {
  const { path, pattern, code, name, module, stream, text } = request as { [member: string]: unknown };
  const about = path ?? pattern ?? code ?? name ?? module ?? (stream === undefined ? question : `${String(stream)}: ${String(text)}`);
  const line = String(about).trim();
  return line.length > SUBJECT_UNITS ? `${line.slice(0, SUBJECT_UNITS - 1)}…` : line;
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
