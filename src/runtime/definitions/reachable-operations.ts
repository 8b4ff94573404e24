/**
 * The operations that a definition may perform, by the names that filters of guards and hooks look for. An estimate: not everything that is
 * written is executed, and a function that is read by a name which the script makes while it runs may be missed.
 */

/** The names of operations, by kind of filter. */
export interface Reach {
  readonly functions: ReadonlySet<string>;
  readonly operations: ReadonlySet<string>;
  readonly labels: ReadonlySet<string>;
}

/** The operations in the body of a call, and the labels of the values that they may get. */
export interface InsideCall {
  readonly reach: Reach;
  readonly labels: readonly string[];
}

export type MutableReach = { readonly [K in keyof Reach]: Set<string> };

export function createReach(): MutableReach {
  return { functions: new Set(), operations: new Set(), labels: new Set() };
}

/** Both words for the same shell: a guard before `op:sh` looks at `bash { … }` as well. */
export function languageNames(language: string): readonly string[] {
  return language === 'bash' ? ['bash', 'sh'] : [language];
}

/** The operations of nodes whose kind has another name. */
const OPERATIONS: { readonly [kind: string]: readonly string[] } = {
  for: ['for', 'for:iteration', 'for:batch'],
  foreach: ['for', 'for:iteration', 'for:batch'],
  reference: ['exe'],
  'call-stage': ['exe'],
};

/** Adds the operations that the nodes of a tree perform. */
export function addReach(reach: MutableReach, tree: unknown): void {
  if (typeof tree !== 'object' || tree === null) return;
  if (Array.isArray(tree)) return tree.forEach((node) => addReach(reach, node));
  const { kind, name, steps, labels, language } = tree as { readonly [member: string]: unknown };
  if (typeof kind === 'string') for (const operation of OPERATIONS[kind] ?? [kind]) reach.operations.add(operation);
  if ((kind === 'reference' || kind === 'call-stage') && typeof name === 'string') addFunction(reach, name, steps);
  if (kind === 'code') for (const operation of ['run', ...languageNames(language as string)]) reach.operations.add(operation);
  if (kind === 'var' && Array.isArray(labels)) {
    for (const label of labels as readonly string[]) {
      reach.operations.add(label);
      reach.labels.add(label);
    }
  }
  Object.values(tree).forEach((node) => addReach(reach, node));
}

/** `@mine.dig()` is found as `mine.dig`, and by the name at the declaration. */
function addFunction({ functions }: MutableReach, name: string, steps: unknown): void {
  functions.add(name);
  let path = name;
  for (const step of Array.isArray(steps) ? (steps as readonly { kind?: unknown; name?: unknown }[]) : []) {
    if (typeof step.name !== 'string') break;
    path = `${path}.${step.name}`;
    functions.add(path).add(step.name);
  }
}
