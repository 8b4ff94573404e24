/**
 * The cache stage: reuses the recorded result of a call, or executes the call and records its result. design.md 3, checkpoint-resume.md
 * 4 to 6.
 *
 * CACHE-1  `call.started` is with the kernel before the body runs; `call.completed` is on disk before the result is seen.
 * CACHE-2  Failures, denials and outputs of failed commands are recorded and never reused.
 * CACHE-3  A call that is in flight is not executed a second time where results are reused: an identical one waits for its result.
 * CACHE-4  A journal that can't be written is waited for. One that is lost costs no result of a call that has started; no other call
 *          starts, unless the user chose to run without a record.
 * CACHE-6  In the store of a team, a call is claimed before it is executed. What another run had as its result first is used instead of
 *          the own result.
 * CACHE-7  With workers, a call may be executed elsewhere. Its result is then reused like any other, and its failure is this call's. Where
 *          such a result can't be reused here (files that it wrote are missing), the run executes the call itself: the next result of a
 *          worker would be like it, and paid for again and again. So it does where the worker could not let a call inside begin (a
 *          shared budget is used up), and pauses for the same reason.
 * CACHE-5  A call with a secret in its request is recorded under a keyed digest. It is the same call as the plain one all the same.
 */
import { isTooDeep } from '../../journal/canonical.js';
import type { CallKey, EventRef } from '../../journal/ids.js';
import type { Awaitable } from '../runtime/awaitable.js';
import type { Outcome } from '../runtime/completion.js';
import type { Body } from '../runtime/ports.js';
import type { Definition } from '../runtime/definitions/definition.js';
import { callKey, type CallRequest } from '../runtime/calls/call-key.js';
import { ExecutedElsewhere } from '../runtime/calls/executed-elsewhere.js';
import type { FormedCall } from '../runtime/calls/llm-call.js';
import { isSecret } from '../runtime/secrets/secret-registry.js';
import type { FailedCall } from '../values/value.js';
import type { CacheableCall, CacheRun, CallIdentity, Execute, Found, Lookup } from './cacheable-call.js';
import { acceptOrThrow } from './failures/accepted-failure.js';
import { executeAndRecord, executeUnrecorded, UNRECORDED } from './execute-call.js';
import { findReusable, findUnjudged, reuse, type GoneFiles, type Hit, type Search } from './find-result.js';
import { definitionFor } from './interceptors.js';
import { failedElsewhere } from './failures/failed-elsewhere.js';
import { countNotExecuted, failuresBefore, notExecuted, recordNotExecuted } from './failures/not-executed.js';
import { offerableCall } from './offerable-call.js';
import type { OutdatedOutputs } from './outputs.js';
import type { PassedOver } from './recording/record-start.js';
import type { Unfit } from './replies/reused-result.js';

/** Waits only if it must: most results are found at once. */
export function callOrReuse(call: CacheableCall, execute: Execute): Awaitable<Found> {
  const { run, llm, operation } = call;
  const policy = run.cache.policy();
  if (!run.failures.isEmpty) return withFailuresBefore(call, execute);
  if (!policy.records && !policy.reuses) return executeUnrecorded(call, undefined, execute);
  const forming = llm.request(operation.inputs);
  return forming instanceof Promise
    ? forming.then((formed) => findOrExecute(call, formed, execute))
    : findOrExecute(call, forming, execute);
}

/** A call is not executed if its arguments have a failure in them. calls.md 5.3. */
async function withFailuresBefore(call: CacheableCall, execute: Execute): Promise<Found> {
  const { run, llm, operation } = call;
  const { records, reuses } = run.cache.policy();
  const failures = await failuresBefore(call);
  if (records || reuses) return findOrExecute(call, await llm.request(operation.inputs), execute, failures);
  if (failures.length === 0) return executeUnrecorded(call, undefined, execute);
  run.usage.callEnded('failed');
  const error = notExecuted(call, failures);
  await countNotExecuted(call, failures, error);
  return acceptOrThrow(call, error, UNRECORDED);
}

/** `failures`: the call is not executed because of them. */
function findOrExecute(call: CacheableCall, formed: FormedCall, execute: Execute, failures: readonly FailedCall[] = []): Awaitable<Found> {
  const { run, operation } = call;
  const { request, body, recordedAs, hasSecret: readsSecret = false } = formed;
  const { args, hint = null } = request;
  const hasSecret = readsSecret || call.secret || operation.inputs.some(isSecret) || run.secrets.contains([...args, hint]);
  const plainKey = recordedAs ?? keyOf(request);
  if (plainKey === undefined) {
    run.warn(`an argument of @${request.fn} is nested too deeply for the journal: this call is neither recorded nor reused`);
    return executeUnrecorded(call, body, execute);
  }
  const underKey = (key: CallKey): Awaitable<Found> => {
    if (failures.length > 0) return refuse(call, key, failures);
    const findWith = (definition: Definition): Awaitable<Found> =>
      findUnder(call, { key, plainKey, hasSecret, definition, request }, (lookup, around) => execute(lookup, body, around));
    const defining = definitionFor(call);
    return defining instanceof Promise ? defining.then(findWith) : findWith(defining);
  };
  if (!hasSecret || recordedAs !== undefined) return underKey(plainKey);
  return run.cache.secretKeys().then((keyed) => underKey(keyed(plainKey))); // CACHE-5
}

async function refuse(call: CacheableCall, key: CallKey, failures: readonly FailedCall[]): Promise<Found> {
  const error = notExecuted(call, failures);
  call.run.usage.callEnded('failed');
  await recordNotExecuted(call, { key }, failures, error);
  return acceptOrThrow(call, error, { hit: false, key });
}

function findUnder(call: CacheableCall, identity: CallIdentity, execute: ExecuteMissed): Awaitable<Found> {
  recordDefinition(call.run, identity.request.fn, identity.definition);
  const missed: Missed = { outdated: undefined };
  const reuseOrExecute = (hit: Hit | undefined): Awaitable<Found> =>
    hit ? reuse(call, identity, hit) : executeMissed(call, identity, missed, execute);
  const searching = search(call, identity, missed);
  return searching instanceof Promise ? searching.then(reuseOrExecute) : reuseOrExecute(searching);
}

/**
 * Undefined when no recorded result can be reused, and no call of the key is in flight here. Waits only if it must: most results are
 * found at once.
 */
function search(call: CacheableCall, identity: CallIdentity, missed: Missed): Awaitable<Hit | undefined> {
  const { cache } = call.run;
  const waiting = cache.policy().reuses ? cache.inFlight.wait(identity.plainKey, call.op.path) : undefined; // CACHE-3
  const searching = waiting ? waiting.then(() => findReusable(call, identity)) : findReusable(call, identity);
  return searching instanceof Promise
    ? searching.then((found) => hitIn(found, call, identity, missed))
    : hitIn(searching, call, identity, missed);
}

function hitIn(found: Search, call: CacheableCall, identity: CallIdentity, missed: Missed): Awaitable<Hit | undefined> {
  const { run, op } = call;
  if (found.kind === 'hit') {
    if (found.outdated) run.warn(`${found.outdated.because}; another recorded result is reused`, `outdated @${identity.request.fn}`);
    return found;
  }
  noteMissed(missed, found);
  const { cache } = run;
  // An identical call that was looked up meanwhile may have started.
  return cache.policy().reuses && cache.inFlight.isInFlight(identity.plainKey, op.path) ? search(call, identity, missed) : undefined;
}

/** Says why recorded results are not reused. */
interface Missed {
  outdated: OutdatedOutputs | undefined;
  unfit?: Unfit | undefined;
  gone?: GoneFiles | undefined;
}

function noteMissed(missed: Missed, { outdated, unfit, gone }: Missed): void {
  missed.outdated = outdated ?? missed.outdated;
  missed.unfit = unfit ?? missed.unfit;
  missed.gone = gone ?? missed.gone;
}

function warnMissed(run: CacheRun, fn: string, { outdated, gone }: Missed): void {
  if (outdated) {
    const hint = outdated.hint === undefined ? '' : ` (${outdated.hint})`;
    run.warn(`${outdated.because}; the call is executed again${hint}`, `outdated @${fn}, again`);
  }
  if (gone && run.calls?.isFirst(`files gone @${fn}`)) run.warn(goneWarning(fn, gone));
}

type ExecuteMissed = (lookup: Lookup, around: (body: Body) => Body) => Promise<Outcome>;

async function executeMissed(call: CacheableCall, identity: CallIdentity, missed: Missed, execute: ExecuteMissed): Promise<Found> {
  const { run, op } = call;
  const { claims, inFlight, offers } = run.cache;
  const { key, plainKey, request } = identity;
  const lookup = { hit: false, key };
  let answer: EventRef | undefined;
  let isForWorkers = missed.gone === undefined;
  for (;;) {
    let isOurs = false;
    const endFlight = inFlight.start(plainKey, op.path);
    try {
      const offering = isForWorkers ? offers?.claim(offerableCall(call, identity), answer) : undefined; // CACHE-7
      const claiming = offering ?? claims?.claim({ key, fn: request.fn }, answer); // CACHE-6
      const claimed = claiming && (await claiming);
      if (claimed?.kind === 'failed' && claimed.event.code === 'INTERRUPTED') {
        isForWorkers = false;
        continue;
      }
      if (claimed?.kind === 'failed') {
        const failed = await failedElsewhere(call, identity, claimed);
        if (failed) return failed;
        continue;
      }
      if (claimed?.kind !== 'answered') {
        isOurs = true;
        const finding = run.cache.hasUnjudged?.() ? findUnjudged(call, identity) : undefined;
        const unjudged = finding && (await finding);
        if (unjudged?.kind === 'miss') noteMissed(missed, unjudged);
        warnMissed(run, request.fn, missed);
        const waiting = unjudged?.kind === 'waits' ? unjudged : undefined;
        const found = { lookup, passedOver: passedOver(missed, claimed?.replaces), unjudged: waiting };
        return await executeAndRecord(call, identity, found, (around) => execute(lookup, around));
      }
      answer = claimed.by;
    } catch (error) {
      if (!(error instanceof ExecutedElsewhere) || error.by === undefined) throw error;
      answer = error.by;
    } finally {
      if (isOurs) {
        claims?.giveBack(key);
        offers?.ended(key);
      }
      endFlight();
    }
    const hit = await search(call, identity, missed);
    if (hit) return reuse(call, identity, hit);
    isForWorkers = false;
  }
}

/** `replaces` is the result in the store of a team that the new one replaces. */
function passedOver({ outdated, unfit, gone }: Missed, replaces: EventRef | undefined): PassedOver {
  return {
    ...(outdated && { outdated: outdated.files }),
    ...(unfit && { unfit }),
    ...(gone && { gone: gone.gone }),
    ...(replaces && { refused: { run: replaces.run, seq: replaces.seq } }),
  };
}

/** Undefined for a request that the journal can't hold. */
function keyOf(request: CallRequest): CallKey | undefined {
  try {
    return callKey(request);
  } catch (error) {
    if (isTooDeep(error)) return undefined;
    throw error;
  }
}

function goneWarning(fn: string, { gone, areInner }: GoneFiles): string {
  const files = gone.join(', ');
  return areInner
    ? `${files}, which a call inside @${fn} wrote, is gone; @${fn} is executed again, so that the call inside restores it`
    : `${files}, which @${fn} wrote, is gone, and its content was not kept or can't be read; the call is executed again`;
}

/** Once per definition and run. */
function recordDefinition({ cache, recorder }: CacheRun, fn: string, { fingerprint, parts }: Definition): void {
  if (cache.recordedDefinitions.has(fingerprint)) return;
  cache.recordedDefinitions.add(fingerprint);
  recorder.post({ type: 'definition.recorded', fn, fingerprint, parts, interceptors: true, code: true });
}
