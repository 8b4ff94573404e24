/**
 * Makes a module one value: a plain object of its exports. A hidden member has what else belongs to a namespace: the exports with their
 * own labels, whether other names are refused, and the module's frontmatter.
 */
import { Callable } from './callable.js';
import { asElement, dataOf, flow, type Data, type DataObject, type Value } from '../value.js';
import { putEntry } from '../plain-object.js';

export interface Namespace {
  readonly members: ReadonlyMap<string, Value>;
  /** The module has an export list: a name that is not in it is an error, not null. */
  readonly listed: boolean;
  /** See `ModuleExports`. */
  readonly interceptors?: ReadonlySet<string>;
  /** The source as written, for messages. */
  readonly source: string;
  readonly frontmatter: Value;
}

const NAMESPACE = Symbol('namespace');

/** Has the labels of all members, for use as a whole; a member that is read by name has its own. */
export function namespaceValue(namespace: Namespace): Value {
  const object: Record<string, Value> = {};
  for (const [name, value] of namespace.members) putEntry(object, name, asElement(value) ?? null);
  if (namespace.frontmatter !== undefined) putEntry(object, '__meta__', dataOf(namespace.frontmatter));
  Object.defineProperty(object, NAMESPACE, { value: namespace });
  return flow(object, [...namespace.members.values()]);
}

export function namespaceOf(value: Value): Namespace | undefined {
  const data = dataOf(value);
  return typeof data === 'object' && data !== null && NAMESPACE in data ? (data as { [NAMESPACE]: Namespace })[NAMESPACE] : undefined;
}

/** Returns what `show` displays: frontmatter, and the exports in two groups. world.md 11.2. */
export function namespaceDisplay({ members, frontmatter }: Namespace): DataObject {
  const variables: Record<string, Value> = {};
  const executables: Record<string, Value> = {};
  for (const [name, value] of members) putEntry(dataOf(value) instanceof Callable ? executables : variables, name, displayed(value));
  const exports = { variables, executables };
  return frontmatter === undefined ? { exports } : { frontmatter: dataOf(frontmatter), exports };
}

function displayed(value: Value): Data | undefined {
  const inner = namespaceOf(value);
  return inner ? namespaceDisplay(inner) : dataOf(value);
}
