/** Records the result of a call before anyone sees it (CACHE-1), with what is known of it beside its value. */
import { canonicalJson } from '../../../journal/canonical.js';
import type { FactOf, Json, Payload } from '../../../journal/event.js';
import type { CallKey } from '../../../journal/ids.js';
import type { RecordedResult } from '../../../journal/storage/claims.js';
import { Signal, valueIn, type Outcome } from '../../runtime/completion.js';
import type { Encoded, UnjudgedResult } from '../../runtime/calls/result-cache.js';
import { labelsOfResult, membersOf, withResultLabels, type ResultLabels } from '../../runtime/calls/result-labels.js';
import type { Body } from '../../runtime/ports.js';
import { isSecret, type SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import { metadataOf, type MeasuredCall } from '../../values/value.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import type { CallProgress } from '../attempts/call-progress.js';
import type { CacheableCall, CallIdentity } from '../cacheable-call.js';
import { encodeResult, wordOf } from '../encode-result.js';
import type { CallFileWatch } from '../files/call-files.js';
import { measuredIn, withMeasured } from '../measured-result.js';
import { keepOutputs } from '../outputs.js';
import { withShortCommand } from '../result-metadata.js';
import { digestOfSent, PAID } from './recorded-arguments.js';

interface Ending {
  readonly progress: CallProgress;
  readonly watch: CallFileWatch;
  /** The result is that of an earlier execution, whose files are there. */
  readonly unjudged?: UnjudgedResult | undefined;
}

/** Returns the result as the script gets it. */
export async function recordResult(call: CacheableCall, identity: CallIdentity, executed: Outcome, ending: Ending): Promise<Outcome> {
  const { progress } = ending;
  const { run, op, operation, llm } = call;
  const { cache, deniedInside, recorder } = run;
  const { key, plainKey, request } = identity;
  progress.takeRepeats(call);
  run.usage.callEnded(progress.isPassedOn ? 'failed' : 'executed');
  const recordedMeasure = cache.recordedMeasure && (await cache.recordedMeasure(op.path));
  const measured = recordedMeasure ? () => recordedMeasure : measuredBy(progress);
  const { made, encoded, resultLabels, flaw, unusable, members } = await storeResult(call, identity, executed, ending);
  const value = withMeasured(withResultLabels(made, operation.inputs, llm, resultLabels), measured);
  const recording = recorder.append({
    type: 'call.completed',
    ...members,
    ...failureMembers(progress),
    ...(unusable !== undefined && { unusable }),
    ...(deniedInside.has(op) && { denied: true }),
  });
  progress.isRecorded();
  call.countsIn?.resolvedInside(key, op.path, progress.attempt?.receivedWithout);
  const recorded = await recording;
  if (recorded?.supersededBy) return (await winningResult(call, identity, recorded.supersededBy)) ?? value;
  if (!recorded || flaw !== undefined || 'redacted' in members.result || value instanceof Signal) return value;
  if (unusable === undefined) return cache.recall(recorded, encoded, { key, fn: request.fn }, value);
  const isInner = progress.attempt?.options.reply !== undefined;
  const { outputs } = members;
  cache.hold(plainKey, recorded, { key, encoded, resultLabels, outputs, measured, ...(isInner && { isInner }) });
  return value;
}

/**
 * Wraps the attempts of a call whose result guards judge: what came back is on disk before they begin, because it is paid for, and they
 * may take time, make calls, or be stopped.
 */
export function receivedBefore(
  attempts: (body: Body) => Body,
  { call, identity, ...ending }: Ending & { readonly call: CacheableCall; readonly identity: CallIdentity },
): (body: Body) => Body {
  return (body) => {
    const attempt = attempts(body);
    return async (frame, inputs) => {
      const executed = await attempt(frame, inputs);
      const { unusable, members } = await storeResult(call, identity, executed, ending);
      if (unusable !== undefined) return executed;
      const sent = await digestOfSent(call, identity, inputs);
      await call.run.recorder.append({ type: 'result.received', ...members, ...(sent !== undefined && { sent }) });
      return executed;
    };
  };
}

type ResultMembers = Omit<FactOf<'result.received'>, 'type' | 'sent'>;

interface StoredOutcome {
  readonly made: Outcome;
  readonly encoded: Encoded;
  readonly resultLabels: ResultLabels;
  /** The reason for which it may not be reused; also in `unusable`, where it could not be stored, too. */
  readonly flaw: string | undefined;
  readonly unusable: string | undefined;
  /** The members of the event that records it. */
  readonly members: ResultMembers;
}

/** Stores a result and what is known beside it, so that an event can name it. */
async function storeResult(
  call: CacheableCall,
  { key }: CallIdentity,
  executed: Outcome,
  { progress, watch, unjudged }: Ending,
): Promise<StoredOutcome> {
  const { run, op, operation, llm, secret } = call;
  const { cache, secrets } = run;
  const made = withShortCommand(executed);
  const encoded = encodeResult(made);
  const { json, form } = encoded;
  const isSealed = secret || isSecret(valueIn(made)) || secrets.contains(json);
  const resultLabels = labelsOfResult(made, operation.inputs, llm, isSealed);
  const storing = isSealed ? cache.secretPayload(json, key, PAID) : cache.payload(json, { isPaid: PAID, answers: progress.args });
  const result = storing instanceof Promise ? await storing : storing;
  const flaw = unusableBecause(call, made, encoded, progress);
  const isStored = flaw === undefined && notStored(result) === undefined;
  const notes = isStored && encoded.notes.length > 0 ? await storeMetadata(call, executed, encoded, isSealed, key) : undefined;
  // A reused result without its metadata would differ from the fresh one.
  const unusable = flaw ?? notStored(result) ?? (notes && notStored(notes));
  const value = withResultLabels(made, operation.inputs, llm, resultLabels);
  const outputs =
    flaw === undefined && llm.writes
      ? await (unjudged?.outputs() ?? keepOutputs(call, llm.writes, value, progress.missingOutputs))
      : undefined;
  const keeping = flaw === undefined ? (unjudged ? unjudged.files : watch.end(isSealed, outputs, progress.attempt)) : undefined;
  const files = keeping instanceof Promise ? await keeping : keeping; // CALL-FILE-1
  const members: ResultMembers = {
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
  };
  return { made, encoded, resultLabels, flaw, unusable, members };
}

/** Returns the result that another run had first, as a reused one would be; undefined when it can't be used here. CACHE-6 */
async function winningResult(call: CacheableCall, identity: CallIdentity, by: RecordedResult): Promise<Outcome | undefined> {
  const { run, operation, llm } = call;
  const known = await run.cache.claims?.winner({ key: identity.key, fn: identity.request.fn }, by);
  return known && withMeasured(withResultLabels(known.value(), operation.inputs, llm, known.resultLabels), known.measured);
}

/** Returns what `call.completed` says about the reply of the last attempt. */
export function replyMembers(
  { attempt, session, usage, callUsage, costsInside, tries }: CallProgress,
  secrets: Pick<SecretRegistry, 'redact'>,
): Partial<ResultMembers> {
  const reply = attempt?.reply;
  return {
    ...(usage && { usage }),
    ...(attempt?.onlyCalls && { onlyCalls: true as const }),
    ...(callUsage !== usage && callUsage && { callUsage }),
    ...costsInside,
    ...(attempt !== undefined && attempt.unresolvedCount > 0 && { unresolvedInside: attempt.unresolvedCount }),
    ...(reply &&
      (reply.adapter !== 'text' || attempt.options.reply !== undefined) && {
        reply: { adapter: reply.adapter, ...(attempt.options.reply !== undefined && { inner: true as const }) },
      }),
    ...(session !== undefined && { session: secrets.redact(session) }),
    ...(tries > 1 && { try: tries }),
    ...(reply?.truncated && { truncated: true as const }),
  };
}

/** Returns what `call.completed` says about a failure that was passed on. */
export function failureMembers({ attempt, failure, isPassedOn }: CallProgress): Partial<FactOf<'call.completed'>> {
  return {
    ...(isPassedOn && failure && { class: failure.class }),
    ...(isPassedOn && attempt?.exitCode !== undefined && { exitCode: attempt.exitCode }),
  };
}

/** Returns what the result says about the costs of its call; undefined where nothing was measured. */
export function measuredBy({ session, callUsage, usage }: CallProgress): (() => MeasuredCall | undefined) | undefined {
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
    : cache.payload(json, { isPaid: PAID });
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
