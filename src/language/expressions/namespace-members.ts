/** Reading a member of a module. world.md 11.2: a name that the module does not export is an error when it has an export list. */
import { MlldError } from '../../errors.js';
import { namespaceOf } from '../../values/kinds/namespace.js';
import { closest } from '../../values/suggest.js';
import type { Value } from '../../values/value.js';

/** Undefined when `value` is no namespace, or has no such member and no export list. MlldError NOT_EXPORTED. */
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
