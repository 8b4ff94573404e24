/** Executes a call that no recorded result was found for, and records its end before anyone sees it (CACHE-1). */
import { canonicalJson } from '../../journal/canonical.js';
import type { FactOf, Json, Payload } from '../../journal/event.js';
import type { RecordedResult } from '../../journal/storage/claims.js';
import type { Recorded } from '../../journal/store.js';
import type { CallKey, Seq } from '../../journal/ids.js';
import type { AttemptView } from '../calls/attempt.js';
import type { CallOptions } from '../calls/options.js';
import type { Started } from '../calls/dispatch/ports.js';
import { MlldError } from '../errors.js';
import { Signal, valueIn, type Outcome } from '../runtime/completion.js';
import { Denial } from '../runtime/denial.js';
import { callFailureOf } from '../runtime/calls/call-failure.js';
import { ExecutedElsewhere } from '../runtime/calls/executed-elsewhere.js';
import { GuardRetry } from '../runtime/guard-retry.js';
import type { Body } from '../runtime/ports.js';
import type { Encoded } from '../runtime/calls/result-cache.js';
import { labelsOfResult, membersOf, withResultLabels } from '../runtime/calls/result-labels.js';
import { isSecret, type SecretRegistry } from '../runtime/secrets/secret-registry.js';
import { metadataOf, type MeasuredCall } from '../values/value.js';
import { withoutUndefined } from '../values/without-undefined.js';
import { exceedingOutput } from '../world/process/output.js';
import { inAttempts } from './attempts/attempts.js';
import { CallProgress, type AttemptRecord } from './attempts/call-progress.js';
import { excerptOf } from './attempts/excerpt.js';
import { OwnClaim } from './attempts/own-claim.js';
import { acceptOrThrow, CalledOff, isAccepted } from './failures/accepted-failure.js';
import { countedAttempts, countedKey } from './failures/unrecorded-attempts.js';
import { CallFileWatch } from './files/call-files.js';
import { sitesOf, type CacheableCall, type CallIdentity, type Execute, type Found, type Lookup } from './cacheable-call.js';
import { encodeResult, wordOf } from './encode-result.js';
import { failedFacts } from './attempts/failed-attempt.js';
import { measuredIn, withMeasured } from './measured-result.js';
import { keepOutputs } from './outputs.js';
import { recordedArguments } from './recorded-arguments.js';
import { withShortCommand } from './result-metadata.js';

/** A disk that refuses writes is waited for (CACHE-4). */
const PAID = true;

export const UNRECORDED: Lookup = { hit: false, key: null };

/** Executes a call where nothing is recorded. Its labels are in the same order as those of a recorded or a reused result. */
export async function executeUnrecorded(call: CacheableCall, body: Body | undefined, execute: Execute): Promise<Found> {
  const { run, op, operation, llm, secret } = call;
  const lookup = UNRECORDED;
  const options = await llm.options(operation.inputs);
  const progress = new CallProgress();
  const record = countedAttempts(call);
  show(call, options, progress);
  let made: Outcome;
  try {
    made = await execute(lookup, body, inAttempts(call, options, progress, record)).finally(() => progress.isRecorded());
  } catch (error) {
    if (progress.isOpen || !isInterruption(error)) {
      const facts = factsOfFailure(call, error, progress, isAccepted(error, options));
      run.recorder.count?.({ type: 'call.failed', key: await countedKey(call), op: op.path, fn: llm.fn, ...facts });
    }
    countFailure(call, error);
    return acceptOrThrow(call, error, lookup, options);
  }
  if (!progress.isStarted) await record.started({ try: 1 }, undefined); // a guard denied it, and its own branch gave a value
  if (run.repeatedInside.has(call.op)) progress.takeRepeat(run.repeatedInside.get(call.op));
  run.usage.callEnded(progress.isPassedOn ? 'failed' : 'executed');
  run.unrecordedResults++;
  run.recorder.count?.({
    type: 'call.completed',
    key: await countedKey(call),
    op: op.path,
    elapsedMs: progress.elapsedMs,
    ...replyMembers(progress, run.secrets),
    ...(run.deniedInside.has(op) && { denied: true }),
  });
  const { inputs } = operation;
  const isSealed = secret || isSecret(valueIn(made));
  const result = withResultLabels(made, inputs, llm, labelsOfResult(made, inputs, llm, isSealed));
  return { result: withMeasured(result, measuredBy(progress)), lookup };
}

/** Shows the guards and after-hooks how far the call has come. */
function show({ sight }: CacheableCall, { lane, model }: CallOptions, progress: CallProgress): void {
  if (sight) sight.view = () => ({ ...progress.view, lane, model });
}

/** Shows the guards a call of which no attempt has begun. */
export function showToGuards(call: CacheableCall, options: CallOptions): void {
  show(call, options, new CallProgress());
}

/** Says why a recorded result was not reused. */
export type PassedOver = Pick<FactOf<'call.started'>, 'outdated' | 'unfit' | 'gone' | 'refused'>;

export async function executeAndRecord(
  call: CacheableCall,
  identity: CallIdentity,
  passedOver: PassedOver,
  lookup: Lookup,
  execute: (around: (body: Body) => Body) => Promise<Outcome>,
): Promise<Found> {
  const { llm, operation } = call;
  if (llm.writes) await llm.writes(operation.inputs); // paths that can't be evaluated are an error before anything is paid for
  const forming = llm.options(operation.inputs);
  const options = forming instanceof Promise ? await forming : forming;
  const progress = new CallProgress();
  show(call, options, progress);
  const files = new CallFileWatch(call, identity, options);
  const claim = new OwnClaim(call, identity, passedOver.refused);
  const record: AttemptRecord = {
    key: identity.key,
    claim,
    started(view, started, mayBegin) {
      const looking = view.try === 1 ? files.begin() : undefined;
      const passed =
        claim.refused === passedOver.refused ? passedOver : { ...passedOver, ...(claim.refused && { refused: claim.refused }) };
      const recording = (): ReturnType<typeof recordStart> => recordStart(call, identity, passed, { view, started, mayBegin });
      return looking ? looking.then(recording) : recording();
    },
    failed: async (fact) => {
      const excerpt = await excerptOf(call, identity.hasSecret, progress.attempt);
      await call.run.recorder.append({ type: 'call.failed', key: identity.key, op: call.op.path, ...fact, ...(excerpt && { excerpt }) });
    },
  };
  try {
    let executed: Outcome;
    try {
      executed = await execute(inAttempts(call, options, progress, record));
    } catch (error) {
      if (error instanceof ExecutedElsewhere) throw error; // no attempt of it began
      await recordFailure(call, identity, error, { progress, record, isAccepted: isAccepted(error, options) });
      countFailure(call, error);
      return await acceptOrThrow(call, error, lookup, options);
    }
    if (!progress.isStarted) await record.started({ try: 1 }, undefined); // a guard denied it, and its own branch gave a value
    return { result: await recordResult(call, identity, executed, { progress, watch: files }), lookup };
  } finally {
    progress.isRecorded(); // also when something between broke
  }
}

interface Begin {
  readonly view: AttemptView;
  readonly started: Started | undefined;
  readonly mayBegin: (() => boolean) | undefined;
}

function recordStart(call: CacheableCall, identity: CallIdentity, passedOver: PassedOver, begin: Begin): Promise<Seq | undefined> {
  const storing = recordedArguments(call, identity);
  if (storing instanceof Promise) return storing.then((args) => appendStart(call, identity, args, passedOver, begin));
  return appendStart(call, identity, storing, passedOver, begin);
}

function appendStart(
  { run: { cache, recorder, secrets }, op, operation }: CacheableCall,
  { key, hasSecret, definition, request }: CallIdentity,
  args: Payload,
  passedOver: PassedOver,
  { view, started, mayBegin }: Begin,
): Promise<Seq | undefined> {
  const preview = hasSecret || 'inline' in args ? undefined : cache.preview(request.args);
  if (mayBegin?.() === false) return Promise.resolve(undefined); // its lane was stopped while the arguments were stored
  const recording = recorder.append({
    type: 'call.started',
    key,
    op: op.path,
    fn: request.fn,
    args,
    fingerprint: definition.fingerprint,
    ...sitesOf(operation),
    ...(preview !== undefined && { preview }),
    ...(request.attempt !== undefined && { attempt: request.attempt }),
    ...(view.try > 1 && { try: view.try }),
    ...(started && { lane: secrets.redact(started.lane) }),
    ...(started?.reserved && { reserved: started.reserved }),
    ...(started?.waitedMs !== undefined && { waitedMs: started.waitedMs }),
    ...passedOver,
  });
  return recording.then(seqIn);
}

function seqIn(recorded: Recorded | undefined): Seq | undefined {
  return recorded?.seq;
}

/** Records the end of a call that failed, was denied or was interrupted. One that was interrupted while no attempt ran leaves nothing. */
async function recordFailure(
  call: CacheableCall,
  identity: CallIdentity,
  error: unknown,
  { progress, record, isAccepted }: { readonly progress: CallProgress; readonly record: AttemptRecord; readonly isAccepted: boolean },
): Promise<void> {
  const { run, op } = call;
  const { cache, deniedInside, recorder, secrets } = run;
  const { key, hasSecret } = identity;
  if (hasSecret) secrets.taint(error);
  if (!progress.isOpen) {
    if (isInterruption(error)) return; // while it waited for an attempt
    await record.started({ try: 1 }, undefined); // a guard denied it
  }
  const output = hasSecret ? undefined : exceedingOutput(error)?.kept;
  if (output && cache.policy().records && !deniedInside.has(op)) {
    // The output came back and is paid for: the next lookup finds it, and fails in the same way.
    const elapsedMs = progress.elapsedMs;
    const completing = recorder.append({ type: 'call.completed', key, op: op.path, result: { ...output, text: true }, elapsedMs });
    progress.isRecorded();
    await completing;
    return;
  }
  const isOwn = progress.failure !== undefined && callFailureOf(error)?.op === op.path;
  const excerpt = isOwn ? await excerptOf(call, hasSecret, progress.attempt) : undefined;
  const facts = factsOfFailure(call, error, progress, isAccepted);
  const failing = recorder.append({ type: 'call.failed', key, op: op.path, ...facts, ...(excerpt && { excerpt }) });
  progress.isRecorded();
  await failing;
}

function isInterruption(error: unknown): boolean {
  return error instanceof MlldError && error.code === 'INTERRUPTED';
}

type FailureMembers = Omit<FactOf<'call.failed'>, 'type' | 'key' | 'op'>;

function factsOfFailure(
  { op, run: { secrets } }: CacheableCall,
  error: unknown,
  progress: CallProgress,
  isAccepted: boolean,
): FailureMembers {
  const { failure, usage, elapsedMs, isOpen, attempt } = progress;
  const facts = callFailureOf(error);
  const isOwn = failure !== undefined && facts?.op === op.path;
  return withoutUndefined<FailureMembers>({
    ...(isOwn
      ? failedFacts(failure, progress, secrets)
      : { elapsedMs, usage, onlyCalls: isOpen && attempt?.onlyCalls ? true : undefined, class: facts?.class }),
    message: facts && isOwn ? secrets.redact(facts.message) : secrets.messageOf(error),
    code: error instanceof MlldError ? error.code : undefined,
    denied: error instanceof Denial || error instanceof GuardRetry ? true : undefined,
    accepted: isAccepted || error instanceof CalledOff ? true : undefined,
  });
}

/** Returns the result as the script gets it. */
async function recordResult(
  call: CacheableCall,
  identity: CallIdentity,
  executed: Outcome,
  { progress, watch }: { readonly progress: CallProgress; readonly watch: CallFileWatch },
): Promise<Outcome> {
  const { run, op, operation, llm, secret } = call;
  const { cache, deniedInside, recorder, secrets } = run;
  const { key, plainKey, request } = identity;
  const made = withShortCommand(executed);
  const encoded = encodeResult(made);
  const { json, form } = encoded;
  const isSealed = secret || isSecret(valueIn(made)) || secrets.contains(json);
  const resultLabels = labelsOfResult(made, operation.inputs, llm, isSealed);
  if (run.repeatedInside.has(call.op)) progress.takeRepeat(run.repeatedInside.get(call.op));
  run.usage.callEnded(progress.isPassedOn ? 'failed' : 'executed');
  const recordedMeasure = cache.recordedMeasure && (await cache.recordedMeasure(op.path));
  const measured = recordedMeasure ? () => recordedMeasure : measuredBy(progress);
  const value = withMeasured(withResultLabels(made, operation.inputs, llm, resultLabels), measured);
  const storing = isSealed ? cache.secretPayload(json, key, PAID) : cache.payload(json, PAID);
  const result = storing instanceof Promise ? await storing : storing;
  const flaw = unusableBecause(call, made, encoded, progress);
  const isStored = flaw === undefined && notStored(result) === undefined;
  const notes = isStored && encoded.notes.length > 0 ? await storeMetadata(call, executed, encoded, isSealed, key) : undefined;
  // A reused result without its metadata would differ from the fresh one.
  const unusable = flaw ?? notStored(result) ?? (notes && notStored(notes));
  const outputs = flaw === undefined && llm.writes ? await keepOutputs(call, llm.writes, value) : undefined;
  const keeping = flaw === undefined ? watch.end(isSealed, outputs, progress.attempt) : undefined;
  const files = keeping instanceof Promise ? await keeping : keeping; // CALL-FILE-1
  const recording = recorder.append({
    type: 'call.completed',
    key,
    op: op.path,
    result,
    elapsedMs: progress.elapsedMs,
    ...(form !== undefined && { form }),
    ...(notes && { notes }),
    ...membersOf(resultLabels),
    ...replyMembers(progress, secrets),
    ...(files && { files }),
    ...(outputs && { outputs }),
    ...(unusable !== undefined && { unusable }),
    ...(deniedInside.has(op) && { denied: true }),
  });
  progress.isRecorded();
  const recorded = await recording;
  if (recorded?.supersededBy) return (await winningResult(call, identity, recorded.supersededBy)) ?? value;
  if (!recorded || flaw !== undefined || 'redacted' in result || value instanceof Signal) return value;
  if (unusable === undefined) return cache.recall(recorded, encoded, { key, fn: request.fn }, value);
  const isInner = progress.attempt?.options.reply !== undefined;
  cache.hold(plainKey, recorded, { key, encoded, resultLabels, outputs, measured, ...(isInner && { isInner }) });
  return value;
}

/** Returns the result that another run had first, as a reused one would be; undefined when it can't be used here. CACHE-6 */
async function winningResult(call: CacheableCall, identity: CallIdentity, by: RecordedResult): Promise<Outcome | undefined> {
  const { run, operation, llm } = call;
  const known = await run.cache.claims?.winner({ key: identity.key, fn: identity.request.fn }, by);
  return known && withMeasured(withResultLabels(known.value(), operation.inputs, llm, known.resultLabels), known.measured);
}

/** Returns what `call.completed` says about the reply of the last attempt, and about a failure that was passed on. */
function replyMembers(
  { attempt, session, usage, callUsage, tries, failure, isPassedOn }: CallProgress,
  secrets: Pick<SecretRegistry, 'redact'>,
): Partial<FactOf<'call.completed'>> {
  const reply = attempt?.reply;
  return {
    ...(usage && { usage }),
    ...(attempt?.onlyCalls && { onlyCalls: true as const }),
    ...(callUsage !== usage && callUsage && { callUsage }),
    ...(reply &&
      (reply.adapter !== 'text' || attempt.options.reply !== undefined) && {
        reply: { adapter: reply.adapter, ...(attempt.options.reply !== undefined && { inner: true as const }) },
      }),
    ...(session !== undefined && { session: secrets.redact(session) }),
    ...(tries > 1 && { try: tries }),
    ...(reply?.truncated && { truncated: true as const }),
    ...(isPassedOn && failure && { class: failure.class }),
    ...(isPassedOn && attempt?.exitCode !== undefined && { exitCode: attempt.exitCode }),
  };
}

/**
 * A call that was denied, or that the end of the run interrupted, has not failed. One that a failure inside it ends has, as everywhere.
 */
function countFailure({ run }: CacheableCall, error: unknown): void {
  if (callFailureOf(error)) run.usage.callEnded('failed');
}

function measuredBy({ session, callUsage, usage }: CallProgress): (() => MeasuredCall | undefined) | undefined {
  if (usage === undefined && callUsage === undefined && session === undefined) return undefined; // mostly, and this is done for each call
  const measured = measuredIn(withoutUndefined<Parameters<typeof measuredIn>[0]>({ usage, callUsage, session }));
  return measured && (() => measured);
}

/** Metadata may be secret where the result is not: the command line that a guard let pass. */
async function storeMetadata(
  { run: { cache, secrets } }: CacheableCall,
  executed: Outcome,
  { notes }: Encoded,
  isSealed: boolean,
  key: CallKey,
): Promise<Payload> {
  const json = notes as readonly object[] as Json;
  // The whole line: where it was cut, part of a secret may be left of it.
  const line = metadataOf(valueIn(executed))?.command?.command ?? '';
  return isSealed || secrets.appearIn(line) || secrets.appearIn(canonicalJson(json))
    ? cache.secretPayload(json, `${key} notes`, PAID)
    : cache.payload(json, PAID);
}

function notStored(result: Payload): string | undefined {
  if ('digest' in result) return 'a secret, and there is no key to keep it with';
  return 'redacted' in result ? result.redacted : undefined;
}

/** CACHE-2 */
function unusableBecause(
  { run, op }: CacheableCall,
  made: Outcome,
  encoded: Encoded,
  { isPassedOn, failure }: CallProgress,
): string | undefined {
  if (!run.cache.policy().records) return 'recording is off here';
  if (run.deniedInside.has(op)) return 'the value of its own denied branch';
  // Reused, it would request another result once more, until the limit of retries.
  if (wordOf(encoded) === 'retry') return 'it requested another result (`retry`)';
  if (run.failures.in([valueIn(made)]).length > 0) return 'it has the failure of another call in it';
  return isPassedOn ? `the call failed (${failure?.class}), and its function passes on what was printed` : undefined;
}
