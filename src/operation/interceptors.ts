/**
 * Guards and hooks belong to how a call was executed: a reused result has passed those that held then, and none since. A call's own hooks
 * are left out, they see reused results as well (`perform`).
 */
import type { Interceptor } from '../runtime/definition.js';
import type { DefinitionPart } from '../../journal/event.js';
import { sha256 } from '../../journal/canonical.js';
import type { Frame } from '../runtime/frame.js';
import { definitionOf, fingerprintOf, type KeyedDigest } from './fingerprint.js';
import type { Definition } from '../runtime/definition.js';
import type { Operation } from '../runtime/operation.js';
import type { Awaitable } from '../runtime/awaitable.js';
import type { LlmCall } from '../runtime/llm-call.js';
import type { SecretRegistry } from '../runtime/secret-registry.js';

/** How the call would be executed now. */
export function definitionFor(frame: Frame, operation: Operation, llm: LlmCall): Awaitable<Definition> {
  const { interceptors: instruments, cache: answers, secrets } = frame.run;
  const own = llm.definition();
  const { suppress } = frame.context;
  if (!instruments.active || suppress === 'all') return own;
  const held = (definition: Definition): readonly Interceptor[] => instruments.holding(operation, definition.reach, suppress);
  if (!(own instanceof Promise) && held(own).length === 0) return own;
  return Promise.resolve(own).then((definition) => withInterceptors(definition, held(definition), answers.digest, secrets));
}

/** The definition of a function, and behind its parts one for each guard and hook. */
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
    const { fingerprint } = await definitionOf(each, keyed, secrets);
    found.push({ kind, name: count === 1 ? each.name : `${each.name} #${count}`, digest: sha256(fingerprint) });
  }
  const parts = [...definition.parts, ...found];
  return { ...definition, fingerprint: fingerprintOf(parts), parts };
}
