/**
 * The memo stage: ask once, and remember what was paid for. design.md 3, checkpoint-resume.md 4 to 6.
 *
 * M1  `call.started` is with the kernel before the body runs; `call.completed` is on disk before the result is seen.
 * M2  Failures, denials and outputs of failed commands are recorded and never served.
 * M3  Where results are reused, a call that is in flight is not executed a second time: an identical one waits and reuses its result.
 * M4  A journal that can't be written is waited for. One that is lost costs no result of a call that has begun; no other begins, unless
 *     the user chose to go on without a record.
 * M5  A question with a secret in it is recorded under a keyed digest; it is the same question as the plain one all the same.
 */
import type { CallOperation } from '../runtime/llm-call.js';
import { Signal, valueIn, type Outcome } from '../runtime/completion.js';
import type { Json, Payload, ReusedOutput } from '../../journal/event.js';
import type { CallKey } from '../../journal/ids.js';
import type { Frame } from '../runtime/frame.js';
import { canonicalJson, isTooDeep } from '../../journal/canonical.js';
import { MlldError } from '../errors.js';
import { toJson } from '../values/native.js';
import { metadataOf, type Value } from '../values/value.js';
import { labelsOfResult, withResultLabels, membersOf } from '../runtime/result-labels.js';
import { Denial } from '../runtime/denial.js';
import { encodeResult, wordOf } from './encode-result.js';
import type { Encoded, CachedResult } from '../runtime/result-cache.js';
import { withShortCommand } from './result-metadata.js';
import { callKey, type CallRequest } from '../runtime/identity.js';
import { keepOutputs, reuseOutputs, type OutputReuse } from './outputs.js';
import { definitionFor } from './interceptors.js';
import type { Operation } from '../runtime/operation.js';
import type { Awaitable } from '../runtime/awaitable.js';
import type { Body } from '../runtime/ports.js';
import type { Definition } from '../runtime/definition.js';
import type { LlmCall } from '../runtime/llm-call.js';
import { exceedingOutput } from '../world/process/output.js';
import { isSecret } from '../runtime/secret-registry.js';

/** A disk that takes nothing is waited for. */
const PAID = true;

/** Runs guards and body in the frame that knows about the lookup; `body` replaces the operation's own where the lookup needed a part of it. */
type Execute = (frame: Frame, body: Body | undefined) => Promise<Outcome>;

interface Answered {
  readonly value: Outcome;
  /** That knows about the lookup; made only when it is asked for. */
  readonly frame: () => Frame;
  readonly reused: boolean;
}

export async function callOrReuse(frame: Frame, operation: CallOperation, execute: Execute): Promise<Answered> {
  const { llm } = operation;
  if (!llm) return { value: await execute(frame, undefined), frame: () => frame, reused: false };
  const { cache: answers } = frame.run;
  const policy = answers.policy();
  if (!policy.records && !policy.serves) return unrecorded(frame, operation, llm, (seen) => execute(seen, undefined));
  const formed = llm.request(operation.inputs);
  const {
    request: question,
    body,
    recordedAs: answeredAs,
    hasSecret: readsSecret = false,
  } = formed instanceof Promise ? await formed : formed;
  const hasSecret = readsSecret || frame.secret === true || operation.inputs.some(isSecret) || frame.run.secrets.contains(question.args);
  const plainKey = answeredAs ?? keyOf(question);
  if (plainKey === undefined) {
    frame.run.warn(`an argument of @${question.fn} is nested too deeply for the journal: this call is neither recorded nor served`);
    return unrecorded(frame, operation, llm, (seen) => execute(seen, body));
  }
  const key = hasSecret && answeredAs === undefined ? await answers.secretKey(plainKey) : plainKey; // M5
  const defined = definitionFor(frame, operation, llm);
  const definition = defined instanceof Promise ? await defined : defined;
  const { fingerprint, parts } = definition;
  if (!answers.recordedDefinitions.has(fingerprint)) {
    answers.recordedDefinitions.add(fingerprint);
    frame.run.recorder.post({ type: 'definition.recorded', fn: question.fn, fingerprint, parts, interceptors: true });
  }
  const asked = { key, plainKey, hasSecret, definition, question };
  let outdated: Outdated | undefined;
  do {
    const waiting = policy.serves ? answers.inFlight.wait(plainKey, frame.op.path) : undefined; // M3
    if (waiting) await waiting;
    const search = findServable(frame, operation, llm, asked);
    const found = search instanceof Promise ? await search : search;
    if (found.kind === 'servable') {
      if (found.outdated) frame.run.warn(`${found.outdated.because}; another recorded answer is served`);
      return reuse(frame, operation, llm, asked, found.known, found.outputs);
    }
    outdated = found.outdated ?? outdated;
  } while (policy.serves && answers.inFlight.isInFlight(plainKey, frame.op.path)); // somebody who looked it up at the same time was first
  if (outdated) frame.run.warn(`${outdated.because}; it is asked again${outdated.hint === undefined ? '' : ` (${outdated.hint})`}`);
  const seen = lookedUp(frame, false, key);
  const endTurn = answers.inFlight.start(plainKey, frame.op.path);
  const endCall = frame.run.paidCalls?.begin(frame.op.path);
  try {
    const value = await executeAndRecord(seen, operation, llm, { ...asked, ...(outdated && { outdated: outdated.files }) }, () =>
      execute(seen, body),
    );
    return { value, frame: () => seen, reused: false };
  } finally {
    endTurn();
    endCall?.();
  }
}

/** With its labels in the order in which a recorded or a served answer has them. */
async function unrecorded(
  frame: Frame,
  { inputs }: Operation,
  llm: LlmCall,
  execute: (seen: Frame) => Promise<Outcome>,
): Promise<Answered> {
  const seen = lookedUp(frame, false, null);
  if (frame.run.paidCalls?.stoppedBy) await frame.run.paidCalls.refuse(frame.op.path);
  const made = await execute(seen);
  frame.run.unrecordedResults++;
  const sealed = frame.secret === true || isSecret(valueIn(made));
  return { value: withResultLabels(made, inputs, llm, labelsOfResult(made, inputs, llm, sealed)), frame: () => seen, reused: false };
}

/** Undefined for a question that the journal can't hold. */
function keyOf(question: CallRequest): CallKey | undefined {
  try {
    return callKey(question);
  } catch (error) {
    if (isTooDeep(error)) return undefined;
    throw error;
  }
}

interface Asked {
  /** As it is recorded. */
  readonly key: CallKey;
  readonly plainKey: CallKey;
  readonly hasSecret: boolean;
  readonly definition: Definition;
  readonly question: CallRequest;
  /** Declared output files for which a known answer was not served. */
  readonly outdated?: readonly string[] | undefined;
}

type Outdated = Extract<OutputReuse, { kind: 'outdated' }>;

type Found =
  /** `outdated`: the one before it, whose declared files are not as it had left them. */
  | {
      readonly kind: 'servable';
      readonly known: CachedResult;
      readonly outputs: readonly ReusedOutput[];
      readonly outdated: Outdated | undefined;
    }
  | { readonly kind: 'none'; readonly outdated: Outdated | undefined };

const NOTHING_FOUND: Found = { kind: 'none', outdated: undefined };

function findServable(frame: Frame, operation: Operation, llm: LlmCall, asked: Asked): Awaitable<Found> {
  const known = lookUp(frame, asked);
  if (known instanceof Promise || llm.writes) return findWithOutputs(frame, operation, llm, asked, known);
  return known ? { kind: 'servable', known, outputs: [], outdated: undefined } : NOTHING_FOUND;
}

function lookUp(frame: Frame, { plainKey, hasSecret, definition, question }: Asked): Awaitable<CachedResult | undefined> {
  return frame.run.cache.lookup({ key: plainKey, fn: question.fn, definition, hasSecret, op: frame.op.path });
}

/** The first known answer whose declared files can be had with it. A borrowed one without them gives way, for the whole run, to the next. */
async function findWithOutputs(
  frame: Frame,
  { inputs }: Operation,
  llm: LlmCall,
  asked: Asked,
  first: Awaitable<CachedResult | undefined>,
): Promise<Found> {
  const { cache: answers } = frame.run;
  const { question } = asked;
  let outdated: Outdated | undefined;
  for (let next = first; ; next = lookUp(frame, asked)) {
    const known = await next;
    if (!known) return { kind: 'none', outdated };
    const files = await reuseOutputs(frame, llm, { fn: question.fn, inputs, known });
    if (files.kind === 'served') return { kind: 'servable', known, outputs: files.outputs, outdated };
    outdated ??= files;
    if (known.from.workflow === undefined) return { kind: 'none', outdated };
    answers.decline(known);
  }
}

function reuse(
  frame: Frame,
  operation: Operation,
  llm: LlmCall,
  asked: Asked,
  known: CachedResult,
  outputs: readonly ReusedOutput[],
): Answered {
  const { recorder, cache: answers } = frame.run;
  const { definition, question } = asked;
  const { fingerprint } = definition;
  const { key } = known;
  // What is borrowed was never asked here: no other event tells what it was.
  const preview = known.from.workflow === undefined || asked.hasSecret ? undefined : answers.preview(question.args);
  recorder.post({
    type: 'call.reused',
    key,
    op: frame.op.path,
    fn: question.fn,
    ...sites(operation),
    from: known.from,
    ...(preview !== undefined && { preview }),
    fingerprint,
    ...(outputs.length > 0 && { outputs }),
  });
  if (known.editedSince !== undefined) answers.warnStaleHit(question.fn, known.editedSince, fingerprint);
  const value = withResultLabels(known.value(), operation.inputs, llm, known.resultLabels);
  return { value, frame: () => lookedUp(frame, true, key), reused: true };
}

async function executeAndRecord(
  frame: Frame,
  operation: Operation,
  llm: LlmCall,
  asked: Asked,
  execute: () => Promise<Outcome>,
): Promise<Outcome> {
  const { recorder, cache: answers, secrets, monotonicMs } = frame.run;
  const { key, hasSecret, definition, question, outdated } = asked;
  const op = frame.op.path;
  const attempt = question.attempt === undefined ? {} : { attempt: question.attempt };
  const stored = hasSecret ? undefined : answers.payload(question.args, PAID);
  const payload = stored instanceof Promise ? await stored : stored;
  const args = payload ?? { digest: await answers.digest(canonicalJson(question.args)) };
  const preview = payload && !('inline' in payload) ? answers.preview(question.args) : undefined;
  if (llm.writes) await llm.writes(operation.inputs); // paths that can't be worked out are an error before anything is paid for
  const { paidCalls } = frame.run;
  if (paidCalls?.stoppedBy) await paidCalls.refuse(op);
  await recorder.append({
    type: 'call.started',
    key,
    op,
    fn: question.fn,
    ...sites(operation),
    args,
    ...(preview !== undefined && { preview }),
    fingerprint: definition.fingerprint,
    ...attempt,
    ...(outdated && { outdated }),
  });
  if (paidCalls?.stoppedBy) await paidCalls.refuse(op); // since
  const startedMs = monotonicMs();
  const elapsed = (): number => Math.round((monotonicMs() - startedMs) * 1000) / 1000;
  let executed: Outcome;
  try {
    executed = await execute();
  } catch (error) {
    const denied = error instanceof Denial ? { denied: true as const } : {};
    if (hasSecret) secrets.taint(error);
    const code = error instanceof MlldError ? { code: error.code } : {};
    const output = hasSecret ? undefined : exceedingOutput(error)?.kept;
    if (output && answers.policy().records && !frame.run.deniedInside.has(frame.op)) {
      // It came back, and is paid for: the next lookup finds it, and fails in the same way.
      await recorder.append({ type: 'call.completed', key, op, result: { ...output, text: true }, elapsedMs: elapsed() });
      throw error;
    }
    await recorder.append({ type: 'call.failed', key, op, message: secrets.messageOf(error), ...code, ...denied, elapsedMs: elapsed() });
    throw error;
  }
  const made = withShortCommand(executed);
  const encoded = encodeResult(made);
  const { json, form } = encoded;
  const isSealed = frame.secret === true || isSecret(valueIn(made)) || secrets.contains(json);
  const carried = labelsOfResult(made, operation.inputs, llm, isSealed);
  const value = withResultLabels(made, operation.inputs, llm, carried);
  const kept = isSealed ? answers.secretPayload(json, key, PAID) : answers.payload(json, PAID);
  const result = kept instanceof Promise ? await kept : kept;
  const exitCode = failedStatus(llm, value);
  const flaw = unusableBecause(frame, operation, encoded, exitCode);
  const isKept = flaw === undefined && notKept(result) === undefined;
  const notes = isKept && encoded.notes.length > 0 ? await keptNotes(frame, executed, encoded, isSealed, key) : undefined;
  // Without what is known about it, a served answer would not be what the fresh one was.
  const unusable = flaw ?? notKept(result) ?? (notes && notKept(notes));
  const outputs = flaw === undefined && llm.writes ? await keepOutputs(frame, llm.writes, operation.inputs, value) : undefined;
  const recorded = await recorder.append({
    type: 'call.completed',
    key,
    op,
    result,
    ...(form === undefined ? {} : { form }),
    ...(notes && { notes }),
    ...membersOf(carried),
    elapsedMs: elapsed(),
    ...(outputs && { outputs }),
    ...(unusable === undefined ? {} : { unusable }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(frame.run.deniedInside.has(frame.op) ? { denied: true as const } : {}),
  });
  if (!recorded || flaw !== undefined || 'redacted' in result) return value;
  if (value instanceof Signal) return value;
  if (unusable === undefined) return answers.recall(recorded, encoded, { key, fn: question.fn }, value);
  answers.hold(asked.plainKey, recorded, { key, encoded, resultLabels: carried, outputs });
  return value;
}

/** What is known about a result may be secret where the result is not: the command that a guard let pass. */
async function keptNotes(
  { run: { cache: answers, secrets } }: Frame,
  executed: Outcome,
  { notes }: Encoded,
  isSealed: boolean,
  key: CallKey,
): Promise<Payload> {
  const json = notes as readonly object[] as Json;
  // The whole line: where it was cut, part of a secret may be left of it.
  const line = metadataOf(valueIn(executed))?.command?.command ?? '';
  return isSealed || secrets.appearIn(line) || secrets.appearIn(canonicalJson(json))
    ? answers.secretPayload(json, `${key} notes`, PAID)
    : answers.payload(json, PAID);
}

function notKept(result: Payload): string | undefined {
  if ('digest' in result) return 'a secret, and there is no key to keep it with';
  return 'redacted' in result ? result.redacted : undefined;
}

/** M2 */
function unusableBecause(frame: Frame, operation: Operation, encoded: Encoded, exitCode: number | undefined): string | undefined {
  if (!frame.run.cache.policy().records) return 'recording is off here';
  if (frame.run.deniedInside.has(frame.op)) return 'the value of its own denied branch';
  // Served, it would ask for the same once more, until the limit of retries.
  if (wordOf(encoded) === 'retry') return 'it asked for another result (`retry`)';
  return exitCode === undefined ? undefined : `its command ended with status ${exitCode}`;
}

/** With what the command ended that is the body of the call; undefined for 0, and for another body. */
function failedStatus(llm: LlmCall, value: Outcome): number | undefined {
  return (llm.isCommand && !(value instanceof Signal) ? metadataOf(value)?.command?.exitCode : undefined) || undefined;
}

function sites({ call }: Operation): { site?: string; declared?: string } {
  return call ? { site: call.site(), declared: call.declaredAt() } : {};
}

function lookedUp(frame: Frame, hit: boolean, key: CallKey | null): Frame {
  return { ...frame, context: { ...frame.context, checkpoint: { hit, key } } };
}

/** Arguments as the key and the journal see them. */
export function callArguments(inputs: readonly Value[]): ReturnType<typeof toJson>[] {
  return inputs.map(toJson);
}
