/** Returns the arguments of a call as the journal has them: only a keyed digest where a secret is among them. */
import { canonicalJson, sha256 } from '../../../journal/canonical.js';
import type { Payload } from '../../../journal/event.js';
import { toJson } from '../../values/native.js';
import type { Value } from '../../values/value.js';
import type { Awaitable } from '../../runtime/awaitable.js';
import type { CacheableCall, CallIdentity } from '../cacheable-call.js';

/** A disk that refuses writes is waited for (CACHE-4). */
export const PAID = true;

/** Returns the digest of what the body is given, where guards before it have replaced some of it. */
export async function digestOfSent(
  { run: { cache }, operation }: CacheableCall,
  { hasSecret }: CallIdentity,
  inputs: readonly Value[],
): Promise<string | undefined> {
  if (inputs === operation.inputs) return undefined;
  const json = canonicalJson(inputs.map(toJson));
  return hasSecret ? cache.digest(json) : sha256(json);
}

export function recordedArguments({ run: { cache } }: CacheableCall, { hasSecret, request }: CallIdentity): Awaitable<Payload> {
  if (!hasSecret) return cache.payload(request.args, { isPaid: PAID });
  return cache.digest(canonicalJson(request.args)).then((digest) => ({ digest }));
}
