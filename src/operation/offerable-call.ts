/**
 * Describes a call as workers may be offered it. team-store.md 7.2.
 *
 * OFFERABLE-1 Guards and hooks act in the run that offers, never at a worker. Before-guards decide ahead of the offer: what they deny is
 *    not offered, and what they replaced goes with it. A call that an after-guard holds for, or a guard of what happens inside it, is
 *    not offered.
 * OFFERABLE-2 The key is that of the arguments before the guards, as of each call. So nobody reuses another result because of the offer.
 */
import { UNLABELLED, type DescribedCall, type NotOffered, type OfferableCall } from '../runtime/calls/offered-call.js';
import { sitesOf, type CacheableCall, type CallIdentity } from './cacheable-call.js';
import { showToGuards } from './execute-call.js';
import { paceOf } from './failures/failed-elsewhere.js';

export function offerableCall(call: CacheableCall, identity: CallIdentity): OfferableCall {
  const { op, operation, llm, run, suppress, guardsBefore, secret } = call;
  const { key, definition, hasSecret, request } = identity;
  const { describe } = llm;
  return {
    key,
    fn: request.fn,
    op: op.path,
    sites: sitesOf(operation),
    definition,
    attempt: request.attempt,
    pace: async () => paceOf(request.fn, await llm.options(operation.inputs)),
    describe:
      describe &&
      (async () => {
        const described = await describe(operation.inputs);
        if ('because' in described) return described;
        if (hasSecret && !secret && !described.hasSecret) return { because: UNLABELLED };
        const offered = secret ? { ...described, hasSecret: true, isSecret: true as const } : described;
        if (!run.interceptors.active || suppress === 'all') return offered;
        const because = run.interceptors.neededBehind(operation, suppress, described.inside);
        return because === undefined ? offered : { because };
      }),
    passGuards: describe && guardsBefore && (() => passedBy(guardsBefore, call, identity, describe)),
  };
}

async function passedBy(
  guardsBefore: NonNullable<CacheableCall['guardsBefore']>,
  call: CacheableCall,
  { key }: CallIdentity,
  describe: NonNullable<CacheableCall['llm']['describe']>,
): Promise<DescribedCall | NotOffered | undefined> {
  const { operation, llm } = call;
  showToGuards(call, await llm.options(operation.inputs));
  try {
    const inputs = await guardsBefore({ hit: false, key });
    return inputs === operation.inputs ? undefined : await describe(inputs);
  } catch {
    return { because: undefined }; // the run executes the call, and there the guards' decision is what it was
  }
}
