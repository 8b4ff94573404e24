/** Looks a call up among the recorded results, and reuses what is found. checkpoint-resume.md 5. */
import { addKnownUsd } from '../../journal/facts/add-usd.js';
import type { SessionCost } from '../calls/price/session-totals.js';
import type { MeasuredCall } from '../values/value.js';
import type { ReusedOutput } from '../../journal/event.js';
import type { Awaitable } from '../runtime/awaitable.js';
import type { CachedResult, CacheQuery, UnjudgedResult } from '../runtime/calls/result-cache.js';
import { withResultLabels } from '../runtime/calls/result-labels.js';
import { withMeasured } from './measured-result.js';
import { findFiles, type ReusableFiles } from './files/call-files.js';
import { sitesOf, type CacheableCall, type CallIdentity, type Found } from './cacheable-call.js';
import { reuseOutputs, type OutdatedOutputs } from './outputs.js';
import { mayMisfit, resultNow, type Unfit } from './replies/reused-result.js';

export type Search = Hit | Missed;

interface Missed {
  readonly kind: 'miss';
  readonly outdated: OutdatedOutputs | undefined;
  /** There is a result, and it is none by the options of now. */
  readonly unfit?: Unfit | undefined;
  /** There is a result, and these files that its call wrote are missing and can't be restored. */
  readonly gone?: GoneFiles | undefined;
}

export type GoneFiles = Pick<ReusableFiles, 'gone' | 'areInner'>;

export interface Hit {
  readonly kind: 'hit';
  readonly known: CachedResult;
  readonly outputs: readonly ReusedOutput[];
  readonly files: readonly ReusedOutput[];
  /** An earlier result was passed over, because its declared files are not as its call left them. */
  readonly outdated: OutdatedOutputs | undefined;
}

const MISS: Search = { kind: 'miss', outdated: undefined };

export function findReusable(call: CacheableCall, identity: CallIdentity): Awaitable<Search> {
  const known = lookUp(call, identity);
  if (known === undefined) return MISS;
  if (known instanceof Promise || call.llm.writes || known.files) return findFitting(call, identity, known);
  const options = call.llm.options(call.operation.inputs);
  if (options instanceof Promise || mayMisfit(options, known)) return findFitting(call, identity, known);
  return { kind: 'hit', known, outputs: [], files: [], outdated: undefined };
}

function lookUp(call: CacheableCall, identity: CallIdentity): Awaitable<CachedResult | undefined> {
  return call.run.cache.lookup(queryOf(call, identity));
}

function queryOf({ op }: CacheableCall, { plainKey, hasSecret, definition, request }: CallIdentity): CacheQuery {
  return { key: plainKey, fn: request.fn, definition, hasSecret, op: op.path };
}

/** Finds the first result that fits the options and whose declared files are there. Another forked one is declined for the whole run. */
async function findFitting(call: CacheableCall, identity: CallIdentity, first: Awaitable<CachedResult | undefined>): Promise<Search> {
  const { run, op, llm, operation } = call;
  let outdated: OutdatedOutputs | undefined;
  let unfit: Unfit | undefined;
  let gone: GoneFiles | undefined;
  const warn = (_topic: string, message: string): void => run.warn(`@${llm.fn}: ${message}`);
  const place = { op, isRecorded: true, warn };
  for (let next = first; ; next = lookUp(call, identity)) {
    const known = await next;
    if (!known) return { kind: 'miss', outdated, unfit, gone };
    const options = await llm.options(operation.inputs);
    const now = await resultNow(known, options, { nowMs: run.calls?.nowMs() ?? 0, place });
    if (now.kind === 'fits') {
      const files = await findFiles(call, identity, now.known, options);
      if (files.gone.length > 0) gone ??= files;
      else {
        const reuse = await reuseOutputs(call, identity.request.fn, now.known);
        if (reuse.kind === 'reusable')
          return { kind: 'hit', known: now.known, outputs: reuse.outputs, files: await files.restore(), outdated };
        outdated ??= reuse;
      }
    } else unfit ??= now.unfit;
    if (known.from.workflow === undefined) return { kind: 'miss', outdated, unfit, gone };
    run.cache.decline(known);
  }
}

/** A result that no guard has judged, with what was done about its files; or the reason for which it is none for the call of now. */
export type Unjudged = WaitingResult | Missed;

export interface WaitingResult extends Pick<Hit, 'outputs' | 'files'> {
  readonly kind: 'waits';
  readonly known: UnjudgedResult;
}

/** Finds a result of the call that no guard has judged, where it fits the options and its files are there, and puts these back. */
export function findUnjudged(call: CacheableCall, identity: CallIdentity): Promise<Unjudged | undefined> | undefined {
  const finding = call.run.cache.unjudged?.(queryOf(call, identity));
  return finding && unjudgedNow(call, identity, finding);
}

async function unjudgedNow(
  call: CacheableCall,
  identity: CallIdentity,
  finding: Awaitable<UnjudgedResult | undefined>,
): Promise<Unjudged | undefined> {
  const { run, op, llm, operation } = call;
  const known = await finding;
  if (!known) return undefined;
  const options = await llm.options(operation.inputs);
  const warn = (_topic: string, message: string): void => run.warn(`@${llm.fn}: ${message}`);
  const now = await resultNow(known, options, { nowMs: run.calls?.nowMs() ?? 0, place: { op, isRecorded: true, warn } });
  const missed = { kind: 'miss', outdated: undefined } as const;
  if (now.kind !== 'fits') return { ...missed, unfit: now.unfit };
  const files = await findFiles(call, identity, known, options);
  if (files.gone.length > 0) return { ...missed, gone: files };
  const reuse = await reuseOutputs(call, llm.fn, known);
  if (reuse.kind !== 'reusable') return { ...missed, outdated: reuse };
  if (known.editedSince !== undefined)
    run.cache.warnStaleHit(llm.fn, { op: op.path, recorded: known.editedSince, now: identity.definition.fingerprint });
  return { kind: 'waits', known: { ...now.known, fact: known.fact }, outputs: reuse.outputs, files: await files.restore() };
}

/** Records that a result is reused, and returns it as a fresh one would be. */
export function reuse(
  { run: { cache, calls, recorder, usage }, op, operation, llm, around, countsIn }: CacheableCall,
  { key: ownKey, definition: { fingerprint }, hasSecret, request }: CallIdentity,
  { known, outputs, files }: Hit,
): Found {
  const { key, from, costUsd, unresolvedInside } = known;
  const worker = known.takeWorker?.();
  const allUsd = addKnownUsd(costUsd, known.insideUsd);
  const savedUsd = worker === undefined ? allUsd : undefined;
  // A forked result was never executed in this workflow, so that no other event has its arguments.
  const preview = from.workflow === undefined || hasSecret ? undefined : cache.preview(request.args);
  recorder.post({
    type: 'call.reused',
    key,
    op: op.path,
    fn: request.fn,
    ...sitesOf(operation),
    from,
    // The cost of a call at a worker was not saved.
    ...(worker !== undefined && {
      worker: worker.name,
      workerHost: worker.host,
      ...(worker.costUsd !== undefined && { workerUsd: worker.costUsd }),
    }),
    ...(preview !== undefined && { preview }),
    fingerprint,
    ...(savedUsd !== undefined && { savedUsd }),
    ...(unresolvedInside !== undefined && { unresolvedInside }),
    ...(outputs.length > 0 && { outputs }),
    ...(files.length > 0 && { files }),
  });
  usage.callReused(savedUsd);
  const outer = operation.repeat?.first ?? around;
  if (allUsd !== undefined) outer?.reusedInside(allUsd, ownKey);
  operation.repeat?.first?.repeatedAt(op.path);
  countsIn?.resolvedInside(ownKey, op.path, unresolvedInside);
  const { measured } = known;
  if (measured) calls?.sessions.addReused(() => sessionCost(measured()));
  if (known.editedSince !== undefined) cache.warnStaleHit(request.fn, { op: op.path, recorded: known.editedSince, now: fingerprint });
  return {
    result: withMeasured(withResultLabels(known.value(), operation.inputs, llm, known.resultLabels), known.measured),
    lookup: { hit: true, key },
  };
}

function sessionCost(measured: MeasuredCall | undefined): SessionCost | undefined {
  const { session, usage } = measured ?? {};
  return session === undefined || usage === undefined ? undefined : { session, usage: usage as SessionCost['usage'] };
}
