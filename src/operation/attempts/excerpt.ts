/** Keeps the beginning of what came back from a failed attempt, for people who look for the cause. calls.md 16 and 16.3. */
import type { Payload } from '../../../journal/payloads.js';
import type { Attempt } from '../../calls/attempt.js';
import { isSecret } from '../../runtime/secrets/secret-registry.js';
import type { CacheableCall } from '../cacheable-call.js';

const UNITS_MAX = 2000;

/** Undefined where nothing came back, and where the call has a secret: what came back may be made of it. */
export async function excerptOf(
  { run: { cache, secrets }, secret, operation }: CacheableCall,
  hasSecret: boolean,
  attempt: Pick<Attempt, 'raw'> | undefined,
): Promise<Payload | undefined> {
  const { stdout = '', stderr = '' } = attempt?.raw ?? {};
  const text = (stdout.trim() === '' ? stderr : stdout).trim();
  if (text === '' || hasSecret || secret || operation.inputs.some(isSecret)) return undefined;
  // Redacted before it is cut: of a secret that is cut first, a part would be left.
  const excerpt = secrets.redact(text).slice(0, UNITS_MAX);
  return cache.payload(excerpt.replace(/[\uD800-\uDBFF]$/, ''));
}
