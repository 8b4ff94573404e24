/**
 * The memo stage: ask once, and remember what was paid for. Design section 3, checkpoint sections 4 to 6.
 *
 * M1  `call.started` is with the kernel before the body runs; `call.completed` is on disk before the result is seen.
 * M2  Failures, denials and outputs of failed commands are recorded and never served.
 * M3  A question that is in flight is not asked a second time: whoever comes later waits and is served.
 * M4  A journal that can't be written costs the memory of a result, never the result.
 */
import type { ReusedOutput } from '../../journal/event.js';
import type { CallKey, Fingerprint } from '../../journal/ids.js';
import type { Frame } from '../language/frame.js';
import { toJson } from '../values/native.js';
import { flow, noteOf, type Value } from '../values/value.js';
import { Denial } from './denial.js';
import { encodeResult } from './encode.js';
import { callKey, type Question } from './identity.js';
import { keepOutputs, serveOutputs } from './outputs.js';
import type { Body, KnownAnswer, LlmCall, Operation } from './operation.js';

/** Runs guards and body in the frame that knows about the lookup; `body` replaces the operation's own where the lookup needed a part of it. */
type Execute = (frame: Frame, body: Body | undefined) => Promise<Value>;

interface Answered {
  readonly value: Value;
  readonly frame: Frame;
  readonly reused: boolean;
}

export async function answerOnce(frame: Frame, operation: Operation, execute: Execute): Promise<Answered> {
  const { llm } = operation;
  if (!llm) return { value: await execute(frame, undefined), frame, reused: false };
  const { answers } = frame.run;
  const policy = answers.policy();
  if (!policy.records && !policy.serves) {
    const seen = lookedUp(frame, false, null);
    return { value: await execute(seen, undefined), frame: seen, reused: false };
  }
  const { question, body, answeredAs } = await llm.question(operation.inputs);
  const key = answeredAs ?? callKey(question);
  const { fingerprint, parts } = await llm.fingerprint();
  if (!answers.defined.has(fingerprint)) {
    answers.defined.add(fingerprint);
    frame.run.recorder.post({ type: 'definition.recorded', fn: question.fn, fingerprint, parts });
  }
  let outdated: readonly string[] | undefined;
  if (policy.serves) {
    do {
      await answers.inFlight.wait(key, frame.op.path); // M3
      const known = await answers.lookup({ key, fingerprint });
      if (!known) continue;
      const files = await serveOutputs(frame, llm, { fn: question.fn, inputs: operation.inputs, known });
      if (files.kind === 'served') return serve(frame, operation, llm, { key, fingerprint, question }, known, files.outputs);
      outdated = files.files;
    } while (answers.inFlight.isAsked(key, frame.op.path)); // somebody who looked it up at the same time was first
  }
  const seen = lookedUp(frame, false, key);
  const endTurn = answers.inFlight.start(key, frame.op.path);
  try {
    const value = await ask(seen, operation, llm, { key, fingerprint, question, outdated }, () => execute(seen, body));
    return { value, frame: seen, reused: false };
  } finally {
    endTurn();
  }
}

interface Asked {
  readonly key: CallKey;
  readonly fingerprint: Fingerprint;
  readonly question: Question;
  /** Declared output files for which a known answer was not served. */
  readonly outdated?: readonly string[] | undefined;
}

function serve(
  frame: Frame,
  operation: Operation,
  llm: LlmCall,
  asked: Asked,
  known: KnownAnswer,
  outputs: readonly ReusedOutput[],
): Answered {
  const { recorder, answers } = frame.run;
  const { key, fingerprint, question } = asked;
  const files = outputs.length === 0 ? {} : { outputs };
  recorder.post({
    type: 'call.reused',
    key,
    op: frame.op.path,
    fn: question.fn,
    ...sites(operation),
    from: known.from,
    fingerprint,
    ...files,
  });
  if (known.fingerprint !== undefined && known.fingerprint !== fingerprint) answers.servedOld(question.fn, known.fingerprint, fingerprint);
  const value = flow(known.value(), operation.inputs, llm.labels, llm.sources);
  return { value, frame: lookedUp(frame, true, key), reused: true };
}

async function ask(frame: Frame, operation: Operation, llm: LlmCall, asked: Asked, execute: () => Promise<Value>): Promise<Value> {
  const { recorder, answers, monotonicMs } = frame.run;
  const { key, fingerprint, question, outdated } = asked;
  const op = frame.op.path;
  const attempt = question.attempt === undefined ? {} : { attempt: question.attempt };
  const args = await answers.payload(question.args);
  await recorder.append({
    type: 'call.started',
    key,
    op,
    fn: question.fn,
    ...sites(operation),
    args,
    fingerprint,
    ...attempt,
    ...(outdated && { outdated }),
  });
  const startedMs = monotonicMs();
  const elapsed = (): number => Math.round((monotonicMs() - startedMs) * 1000) / 1000;
  const value = await execute().catch(async (error: unknown) => {
    const denied = error instanceof Denial ? { denied: true as const } : {};
    const message = error instanceof Error ? error.message : String(error);
    await recorder.append({ type: 'call.failed', key, op, message, ...denied, elapsedMs: elapsed() });
    throw error;
  });
  const unusable = unusableBecause(frame, operation, llm, value);
  const outputs = unusable === undefined ? await keepOutputs(frame, llm, operation.inputs, value) : undefined;
  const { json, form } = encodeResult(value);
  const result = await answers.payload(json);
  const recorded = await recorder.append({
    type: 'call.completed',
    key,
    op,
    result,
    ...(form === undefined ? {} : { form }),
    elapsedMs: elapsed(),
    ...(outputs && { outputs }),
    ...(unusable === undefined ? {} : { unusable }),
  });
  return recorded && unusable === undefined ? answers.recall(recorded, { json, form }, question.fn, value) : value;
}

/** M2 */
function unusableBecause(frame: Frame, operation: Operation, llm: LlmCall, value: Value): string | undefined {
  if (!frame.run.answers.policy().records) return 'recording is off here';
  if (frame.run.deniedInside.has(frame.op)) return 'the value of its own denied branch';
  const exitCode = llm.isCommand ? noteOf(value)?.command?.exitCode : undefined;
  return exitCode === undefined || exitCode === 0 ? undefined : `its command ended with status ${exitCode}`;
}

function sites({ call }: Operation): { site?: string; declared?: string } {
  return call ? { site: call.site(), declared: call.declaredAt() } : {};
}

function lookedUp(frame: Frame, hit: boolean, key: CallKey | null): Frame {
  return { ...frame, context: { ...frame.context, checkpoint: { hit, key } } };
}

/** Arguments as the key and the journal see them. */
export function questionArgs(inputs: readonly Value[]): ReturnType<typeof toJson>[] {
  return inputs.map(toJson);
}
