/**
 * Finds the names that a file reads from `@payload`: `@payload.x`, `@payload["x"]`, `import { x } from @payload`, and the same through
 * another name for the whole (`import "@payload" as @p`, `var @p = @payload`). It does not find computed names.
 */
import type { CallStage, Import, IndexStep, Reference, Script, Template } from '../../grammar/ast.js';
import { eachNode, type SomeNode } from './each-node.js';
import { staticText } from './static-path.js';

const WHOLE = 'payload';

export function payloadNames(tree: Script | Template): ReadonlySet<string> {
  const aliases = new Set([WHOLE]);
  // A function may use a name that is declared below it: all aliases come first.
  eachNode(tree, (node) => {
    const alias = aliasIn(node, aliases);
    if (alias !== undefined) aliases.add(alias);
  });
  const names = new Set<string>();
  eachNode(tree, (node) => {
    for (const name of namesIn(node, aliases)) names.add(name);
  });
  return names;
}

/** Returns another name for the whole of `@payload`, if the node declares one. */
function aliasIn(node: SomeNode, aliases: ReadonlySet<string>): string | undefined {
  if (node.kind === 'import') {
    const { source, names, alias } = node as Import;
    return isPayload(source) && names === undefined ? alias : undefined;
  }
  if (node.kind !== 'var' && node.kind !== 'let') return undefined;
  const { name, value } = node as { readonly name: string; readonly value: SomeNode };
  if (value.kind !== 'reference') return undefined;
  const { name: read, steps } = value as Reference;
  return steps.length === 0 && aliases.has(read) ? name : undefined;
}

function namesIn(node: SomeNode, aliases: ReadonlySet<string>): readonly string[] {
  if (node.kind === 'import') {
    const { source, names = [] } = node as Import;
    return isPayload(source) ? names.map(({ name }) => name) : [];
  }
  if (node.kind === 'call-stage') {
    const { name, path: [field] } = node as CallStage; // prettier-ignore
    return field !== undefined && aliases.has(name) ? [field] : [];
  }
  if (node.kind !== 'reference') return [];
  const { name, steps: [first] } = node as Reference; // prettier-ignore
  if (first === undefined || !aliases.has(name)) return [];
  if (first.kind === 'field') return [first.name];
  return first.kind === 'index' ? literalOf(first) : [];
}

function isPayload(source: Import['source']): boolean {
  return source.kind === 'provided' && source.name === `@${WHOLE}`;
}

function literalOf({ index }: IndexStep): readonly string[] {
  const text = index.kind === 'literal' || index.kind === 'template' ? staticText(index) : undefined;
  return text === undefined ? [] : [text];
}
