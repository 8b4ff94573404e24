/** Records the result of a call before anyone sees it (CACHE-1), with what is known of it beside its value. */
import { canonicalJson } from '../../../journal/canonical.js';
import type { FactOf, Json, Payload } from '../../../journal/event.js';
import type { CallKey } from '../../../journal/ids.js';
import type { RecordedResult } from '../../../journal/storage/claims.js';
import { Signal, valueIn, type Outcome } from '../../runtime/completion.js';
import type { Encoded } from '../../runtime/calls/result-cache.js';
import { labelsOfResult, membersOf, withResultLabels } from '../../runtime/calls/result-labels.js';
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
import { PAID } from './recorded-arguments.js';

/** Returns the result as the script gets it. */
export async function recordResult(
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
  progress.takeRepeats(call);
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
export function replyMembers(
  { attempt, session, usage, callUsage, costsInside, tries, failure, isPassedOn }: CallProgress,
  secrets: Pick<SecretRegistry, 'redact'>,
): Partial<FactOf<'call.completed'>> {
  const reply = attempt?.reply;
  return {
    ...(usage && { usage }),
    ...(attempt?.onlyCalls && { onlyCalls: true as const }),
    ...(callUsage !== usage && callUsage && { callUsage }),
    ...costsInside,
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
