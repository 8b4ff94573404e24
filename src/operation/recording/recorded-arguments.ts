/** Returns the arguments of a call as the journal has them: only a keyed digest where a secret is among them. */
import { canonicalJson } from '../../../journal/canonical.js';
import type { Payload } from '../../../journal/event.js';
import type { Awaitable } from '../../runtime/awaitable.js';
import type { CacheableCall, CallIdentity } from '../cacheable-call.js';

/** A disk that refuses writes is waited for (CACHE-4). */
export const PAID = true;

export function recordedArguments({ run: { cache } }: CacheableCall, { hasSecret, request }: CallIdentity): Awaitable<Payload> {
  if (!hasSecret) return cache.payload(request.args, PAID);
  return cache.digest(canonicalJson(request.args)).then((digest) => ({ digest }));
}
