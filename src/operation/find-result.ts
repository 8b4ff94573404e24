/** Looks a call up among the recorded results, and reuses what is found. checkpoint-resume.md 5. */
import type { ReusedOutput } from '../../journal/event.js';
import type { Awaitable } from '../runtime/awaitable.js';
import type { CachedResult } from '../runtime/calls/result-cache.js';
import { withResultLabels } from '../runtime/calls/result-labels.js';
import { sitesOf, type CacheableCall, type CallIdentity, type Found } from './cacheable-call.js';
import { reuseOutputs, type OutdatedOutputs } from './outputs.js';

export type Search = Hit | { readonly kind: 'miss'; readonly outdated: OutdatedOutputs | undefined };

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
  if (known instanceof Promise || call.llm.writes) return findWithOutputs(call, identity, known);
  return known ? { kind: 'hit', known, outputs: [], outdated: undefined } : MISS;
}

function lookUp({ run, op }: CacheableCall, identity: CallIdentity): Awaitable<CachedResult | undefined> {
  const { plainKey, hasSecret, definition, request } = identity;
  return run.cache.lookup({ key: plainKey, fn: request.fn, definition, hasSecret, op: op.path });
}

/** Finds the first result whose declared files can be had with it. A forked one without them is declined for the whole run. */
async function findWithOutputs(call: CacheableCall, identity: CallIdentity, first: Awaitable<CachedResult | undefined>): Promise<Search> {
  let outdated: OutdatedOutputs | undefined;
  for (let next = first; ; next = lookUp(call, identity)) {
    const known = await next;
    if (!known) return { kind: 'miss', outdated };
    const files = await reuseOutputs(call, identity.request.fn, known);
    if (files.kind === 'reusable') return { kind: 'hit', known, outputs: files.outputs, outdated };
    outdated ??= files;
    if (known.from.workflow === undefined) return { kind: 'miss', outdated };
    call.run.cache.decline(known);
  }
}

/** Records that a result is reused, and returns it as a fresh one would be. */
export function reuse(
  { run: { cache, recorder }, op, operation, llm }: CacheableCall,
  { definition: { fingerprint }, hasSecret, request }: CallIdentity,
  { known, outputs }: Hit,
): Found {
  const { key, from } = known;
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
    ...(outputs.length > 0 && { outputs }),
  });
  if (known.editedSince !== undefined) cache.warnStaleHit(request.fn, known.editedSince, fingerprint);
  return { result: withResultLabels(known.value(), operation.inputs, llm, known.resultLabels), lookup: { hit: true, key } };
}
