/** Reads members of an imported module. A name that the module's export list lacks is an error. world.md 11.2. */
import { MlldError } from '../../errors.js';
import { namespaceOf } from '../../values/kinds/namespace.js';
import { closest } from '../../values/suggest.js';
import type { Value } from '../../values/value.js';

/** Returns undefined for a value that is not a namespace, and for an unknown member of one without an export list. Throws NOT_EXPORTED. */
export function readNamespace(value: Value, name: string, written: string): Value {
  const namespace = namespaceOf(value);
  if (!namespace) return undefined;
  const { members, listed, source, frontmatter } = namespace;
  if (members.has(name)) return members.get(name) ?? null;
  if (name === '__meta__') return frontmatter;
  if (!listed) return undefined;
  throw notExported(name, `${written}.${name}`, source, members);
}

export function notExported(name: string, written: string, source: string, members: ReadonlyMap<string, Value>): MlldError {
  const near = closest(name, members.keys());
  return new MlldError('NOT_EXPORTED', `${written}: ${source} does not export @${name}`, {
    hint:
      near === undefined
        ? `it exports ${members.size === 0 ? 'nothing' : [...members.keys()].map((member) => `@${member}`).join(', ')}`
        : `did you mean @${near}?`,
  });
}
