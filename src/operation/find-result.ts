/** Looks a call up among the recorded results, and reuses what is found. checkpoint-resume.md 5. */
import type { ReusedOutput } from '../../journal/event.js';
import type { Awaitable } from '../runtime/awaitable.js';
import type { CachedResult } from '../runtime/calls/result-cache.js';
import { withResultLabels } from '../runtime/calls/result-labels.js';
import { withMeasured } from './measured-result.js';
import { sitesOf, type CacheableCall, type CallIdentity, type Found } from './cacheable-call.js';
import { reuseOutputs, type OutdatedOutputs } from './outputs.js';
import { mayMisfit, resultNow, type Unfit } from './replies/reused-result.js';

export type Search = Hit | Missed;

interface Missed {
  readonly kind: 'miss';
  readonly outdated: OutdatedOutputs | undefined;
  /** There is a result, and it is none by the options of now. */
  readonly unfit?: Unfit | undefined;
}

export interface Hit {
  readonly kind: 'hit';
  readonly known: CachedResult;
  readonly outputs: readonly ReusedOutput[];
  /** An earlier result was passed over, because its declared files are not as its call left them. */
  readonly outdated: OutdatedOutputs | undefined;
}

const MISS: Search = { kind: 'miss', outdated: undefined };

export function findReusable(call: CacheableCall, identity: CallIdentity): Awaitable<Search> {
  const known = lookUp(call, identity);
  if (known === undefined) return MISS;
  if (known instanceof Promise || call.llm.writes) return findFitting(call, identity, known);
  const options = call.llm.options(call.operation.inputs);
  if (options instanceof Promise || mayMisfit(options, known)) return findFitting(call, identity, known);
  return { kind: 'hit', known, outputs: [], outdated: undefined };
}

function lookUp({ run, op }: CacheableCall, identity: CallIdentity): Awaitable<CachedResult | undefined> {
  const { plainKey, hasSecret, definition, request } = identity;
  return run.cache.lookup({ key: plainKey, fn: request.fn, definition, hasSecret, op: op.path });
}

/** Finds the first result that fits the options and whose declared files are there. Another forked one is declined for the whole run. */
async function findFitting(call: CacheableCall, identity: CallIdentity, first: Awaitable<CachedResult | undefined>): Promise<Search> {
  const { run, llm, operation } = call;
  let outdated: OutdatedOutputs | undefined;
  let unfit: Unfit | undefined;
  for (let next = first; ; next = lookUp(call, identity)) {
    const known = await next;
    if (!known) return { kind: 'miss', outdated, unfit };
    const now = resultNow(known, await llm.options(operation.inputs), run.calls?.nowMs() ?? 0);
    if (now.kind === 'fits') {
      const files = await reuseOutputs(call, identity.request.fn, now.known);
      if (files.kind === 'reusable') return { kind: 'hit', known: now.known, outputs: files.outputs, outdated };
      outdated ??= files;
    } else unfit ??= now.unfit;
    if (known.from.workflow === undefined) return { kind: 'miss', outdated, unfit };
    run.cache.decline(known);
  }
}

/** Records that a result is reused, and returns it as a fresh one would be. */
export function reuse(
  { run: { cache, recorder, usage }, op, operation, llm }: CacheableCall,
  { definition: { fingerprint }, hasSecret, request }: CallIdentity,
  { known, outputs }: Hit,
): Found {
  const { key, from, costUsd } = known;
  // A forked result was never executed in this workflow, so that no other event has its arguments.
  const preview = from.workflow === undefined || hasSecret ? undefined : cache.preview(request.args);
  recorder.post({
    type: 'call.reused',
    key,
    op: op.path,
    fn: request.fn,
    ...sitesOf(operation),
    from,
    ...(preview !== undefined && { preview }),
    fingerprint,
    ...(costUsd !== undefined && { savedUsd: costUsd }),
    ...(outputs.length > 0 && { outputs }),
  });
  usage.callReused(costUsd);
  if (known.editedSince !== undefined) cache.warnStaleHit(request.fn, known.editedSince, fingerprint);
  return {
    result: withMeasured(withResultLabels(known.value(), operation.inputs, llm, known.resultLabels), known.measured),
    lookup: { hit: true, key },
  };
}
