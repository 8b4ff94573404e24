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
export function definitionFor({ run, op, operation, llm, suppress }: CacheableCall): Awaitable<Definition> {
  const { interceptors, cache, secrets } = run;
  if (suppress === 'all') return llm.definition(operation.inputs, op);
  const holding = (reach: Definition['reach']): readonly Interceptor[] =>
    interceptors.active ? interceptors.holding(operation, reach, suppress) : [];
  const own = llm.definition(operation.inputs, op);
  if (!(own instanceof Promise)) {
    const held = holding(own.reach);
    return held.length === 0 ? own : withInterceptors(own, held, cache.digest, secrets);
  }
  // The module of a backend, which the definition may have loaded, brings guards and hooks of its own.
  const known = new Set(holding(undefined));
  return own.then((definition) => {
    const held = holding(definition.reach);
    const late = definition.parts.some((part) => part.inBackend) ? held.filter((each) => !known.has(each)) : [];
    return withInterceptors(definition, held, cache.digest, secrets, late);
  });
}

/**
 * Adds a part for each guard and hook to the definition of a function.
 *
 * @param late those that hold because of the function that is the backend of the call
 */
export async function withInterceptors(
  definition: Definition,
  held: readonly Interceptor[],
  keyed: KeyedDigest,
  secrets?: SecretRegistry,
  late: readonly Interceptor[] = [],
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
    const inBackend = late.includes(each);
    const name = count === 1 ? each.name : `${each.name} #${count}`;
    found.push({ kind, name, digest: sha256(fingerprint), ...(inCode && { inCode }), ...(inBackend && { inBackend }) });
  }
  return withParts(definition, found);
}
