/**
 * Guards and hooks are part of the definition that a call is executed with: a reused result has passed those that held then, and none
 * since. A call's own hooks are left out, because they see reused results as well (`perform`).
 */
import { sha256 } from '../../journal/canonical.js';
import type { DefinitionPart } from '../../journal/event.js';
import type { Awaitable } from '../runtime/awaitable.js';
import type { Interceptor } from '../runtime/definitions/definable.js';
import type { Definition } from '../runtime/definitions/definition.js';
import type { SecretRegistry } from '../runtime/secrets/secret-registry.js';
import type { CacheableCall } from './cacheable-call.js';
import { definitionOf, withParts, type KeyedDigest } from './fingerprint.js';

/** Returns the definition that the call would be executed with now. */
export function definitionFor({ run, operation, llm, suppress }: CacheableCall): Awaitable<Definition> {
  const { interceptors, cache, secrets } = run;
  const own = llm.definition(operation.inputs);
  if (!interceptors.active || suppress === 'all') return own;
  const held = (definition: Definition): readonly Interceptor[] => interceptors.holding(operation, definition.reach, suppress);
  if (!(own instanceof Promise) && held(own).length === 0) return own;
  return Promise.resolve(own).then((definition) => withInterceptors(definition, held(definition), cache.digest, secrets));
}

/** Adds a part for each guard and hook to the definition of a function. */
export async function withInterceptors(
  definition: Definition,
  held: readonly Interceptor[],
  keyed: KeyedDigest,
  secrets?: SecretRegistry,
): Promise<Definition> {
  if (held.length === 0) return definition;
  const found: DefinitionPart[] = [];
  const names = new Map<string, number>();
  for (const each of held) {
    const { kind } = each.node;
    const count = (names.get(`${kind} ${each.name}`) ?? 0) + 1;
    names.set(`${kind} ${each.name}`, count);
    const { fingerprint, parts } = await definitionOf(each, keyed, secrets);
    const inCode = parts.some((part) => part.inCode);
    found.push({ kind, name: count === 1 ? each.name : `${each.name} #${count}`, digest: sha256(fingerprint), ...(inCode && { inCode }) });
  }
  return withParts(definition, found);
}
