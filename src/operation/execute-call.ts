/** Executes a call that no recorded result was found for, and records its result before anyone sees it (CACHE-1). */
import { canonicalJson } from '../../journal/canonical.js';
import type { Json, Payload } from '../../journal/event.js';
import type { CallKey } from '../../journal/ids.js';
import { MlldError } from '../errors.js';
import { Signal, valueIn, type Outcome } from '../runtime/completion.js';
import { Denial } from '../runtime/denial.js';
import type { LlmCall } from '../runtime/calls/llm-call.js';
import type { Body } from '../runtime/ports.js';
import type { Encoded } from '../runtime/calls/result-cache.js';
import { labelsOfResult, membersOf, withResultLabels } from '../runtime/calls/result-labels.js';
import { isSecret } from '../runtime/secrets/secret-registry.js';
import { metadataOf } from '../values/value.js';
import { exceedingOutput } from '../world/process/output.js';
import { sitesOf, type CacheableCall, type CallIdentity, type Execute, type Found } from './cacheable-call.js';
import { encodeResult, wordOf } from './encode-result.js';
import { keepOutputs } from './outputs.js';
import { withShortCommand } from './result-metadata.js';

/** A disk that refuses writes is waited for (CACHE-4). */
const PAID = true;

/** Executes a call where nothing is recorded. Its labels are in the same order as those of a recorded or a reused result. */
export async function executeUnrecorded(call: CacheableCall, body: Body | undefined, execute: Execute): Promise<Found> {
  const { run, op, operation, llm, secret } = call;
  const lookup = { hit: false, key: null };
  if (run.paidCalls?.stoppedBy) await run.paidCalls.refuse(op.path);
  const made = await execute(lookup, body);
  run.unrecordedResults++;
  const { inputs } = operation;
  const isSealed = secret || isSecret(valueIn(made));
  return { result: withResultLabels(made, inputs, llm, labelsOfResult(made, inputs, llm, isSealed)), lookup };
}

/** `outdated`: declared output files for which a recorded result was not reused. */
export async function executeAndRecord(
  call: CacheableCall,
  identity: CallIdentity,
  outdated: readonly string[] | undefined,
  execute: () => Promise<Outcome>,
): Promise<Outcome> {
  await recordStart(call, identity, outdated);
  const { run } = call;
  const startedMs = run.monotonicMs();
  const elapsedMs = (): number => Math.round((run.monotonicMs() - startedMs) * 1000) / 1000;
  let executed: Outcome;
  try {
    executed = await execute();
  } catch (error) {
    await recordFailure(call, identity, error, elapsedMs);
    throw error;
  }
  return recordResult(call, identity, executed, elapsedMs);
}

async function recordStart(call: CacheableCall, identity: CallIdentity, outdated: readonly string[] | undefined): Promise<void> {
  const { run, op, operation, llm } = call;
  const { cache, recorder, paidCalls } = run;
  const { key, hasSecret, definition, request } = identity;
  const storing = hasSecret ? undefined : cache.payload(request.args, PAID);
  const stored = storing instanceof Promise ? await storing : storing;
  const args = stored ?? { digest: await cache.digest(canonicalJson(request.args)) };
  const preview = stored && !('inline' in stored) ? cache.preview(request.args) : undefined;
  if (llm.writes) await llm.writes(operation.inputs); // paths that can't be evaluated are an error before anything is paid for
  if (paidCalls?.stoppedBy) await paidCalls.refuse(op.path);
  await recorder.append({
    type: 'call.started',
    key,
    op: op.path,
    fn: request.fn,
    ...sitesOf(operation),
    args,
    ...(preview !== undefined && { preview }),
    fingerprint: definition.fingerprint,
    ...(request.attempt !== undefined && { attempt: request.attempt }),
    ...(outdated && { outdated }),
  });
  if (paidCalls?.stoppedBy) await paidCalls.refuse(op.path); // the journal was lost by this append
}

async function recordFailure(
  { run: { cache, deniedInside, recorder, secrets }, op }: CacheableCall,
  { key, hasSecret }: CallIdentity,
  error: unknown,
  elapsedMs: () => number,
): Promise<void> {
  if (hasSecret) secrets.taint(error);
  const output = hasSecret ? undefined : exceedingOutput(error)?.kept;
  if (output && cache.policy().records && !deniedInside.has(op)) {
    // The output came back and is paid for: the next lookup finds it, and fails in the same way.
    await recorder.append({ type: 'call.completed', key, op: op.path, result: { ...output, text: true }, elapsedMs: elapsedMs() });
    return;
  }
  await recorder.append({
    type: 'call.failed',
    key,
    op: op.path,
    message: secrets.messageOf(error),
    ...(error instanceof MlldError && { code: error.code }),
    ...(error instanceof Denial && { denied: true }),
    elapsedMs: elapsedMs(),
  });
}

/** Returns the result as the script gets it. */
async function recordResult(call: CacheableCall, identity: CallIdentity, executed: Outcome, elapsedMs: () => number): Promise<Outcome> {
  const { run, op, operation, llm, secret } = call;
  const { cache, deniedInside, recorder, secrets } = run;
  const { key, plainKey, request } = identity;
  const made = withShortCommand(executed);
  const encoded = encodeResult(made);
  const { json, form } = encoded;
  const isSealed = secret || isSecret(valueIn(made)) || secrets.contains(json);
  const resultLabels = labelsOfResult(made, operation.inputs, llm, isSealed);
  const value = withResultLabels(made, operation.inputs, llm, resultLabels);
  const storing = isSealed ? cache.secretPayload(json, key, PAID) : cache.payload(json, PAID);
  const result = storing instanceof Promise ? await storing : storing;
  const exitCode = failedStatus(llm, value);
  const flaw = unusableBecause(call, encoded, exitCode);
  const isStored = flaw === undefined && notStored(result) === undefined;
  const notes = isStored && encoded.notes.length > 0 ? await storeMetadata(call, executed, encoded, isSealed, key) : undefined;
  // A reused result without its metadata would differ from the fresh one.
  const unusable = flaw ?? notStored(result) ?? (notes && notStored(notes));
  const outputs = flaw === undefined && llm.writes ? await keepOutputs(call, llm.writes, value) : undefined;
  const recorded = await recorder.append({
    type: 'call.completed',
    key,
    op: op.path,
    result,
    ...(form !== undefined && { form }),
    ...(notes && { notes }),
    ...membersOf(resultLabels),
    elapsedMs: elapsedMs(),
    ...(outputs && { outputs }),
    ...(unusable !== undefined && { unusable }),
    ...(exitCode !== undefined && { exitCode }),
    ...(deniedInside.has(op) && { denied: true }),
  });
  if (!recorded || flaw !== undefined || 'redacted' in result || value instanceof Signal) return value;
  if (unusable === undefined) return cache.recall(recorded, encoded, { key, fn: request.fn }, value);
  cache.hold(plainKey, recorded, { key, encoded, resultLabels, outputs });
  return value;
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
function unusableBecause({ run, op }: CacheableCall, encoded: Encoded, exitCode: number | undefined): string | undefined {
  if (!run.cache.policy().records) return 'recording is off here';
  if (run.deniedInside.has(op)) return 'the value of its own denied branch';
  // Reused, it would request another result once more, until the limit of retries.
  if (wordOf(encoded) === 'retry') return 'it asked for another result (`retry`)';
  return exitCode === undefined ? undefined : `its command ended with status ${exitCode}`;
}

/** Returns the exit status of the command that is the body of the call; undefined for 0, and for another body. */
function failedStatus({ isCommand }: LlmCall, value: Outcome): number | undefined {
  return (isCommand && !(value instanceof Signal) ? metadataOf(value)?.command?.exitCode : undefined) || undefined;
}
