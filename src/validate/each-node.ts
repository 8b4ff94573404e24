/** Visits the nodes of a tree. Rules do so once for each change in an editor, so the walk makes no lists and looks at objects alone. */

export interface SomeNode {
  readonly kind?: unknown;
}

/** Calls `look` with each node, a node before those inside it, in source order. */
export function eachNode(part: unknown, look: (node: SomeNode) => void): void {
  if (typeof part !== 'object' || part === null) return;
  if (Array.isArray(part)) {
    for (const element of part) eachNode(element, look);
    return;
  }
  look(part);
  const members = part as { readonly [name: string]: unknown };
  for (const name in members) {
    const child = members[name];
    if (typeof child === 'object') eachNode(child, look);
  }
}
