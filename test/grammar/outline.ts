/** A tree in one line, without offsets and empty lists: `var{name:a value:binary{operator:+ left:1 right:@b}}`. */
export function outline(node: unknown): string {
  if (Array.isArray(node)) return `[${node.map(outline).join(' ')}]`;
  if (typeof node === 'object' && node !== null) return outlineObject(node as Record<string, unknown>);
  return String(node);
}

function outlineObject(node: Record<string, unknown>): string {
  const fields = Object.entries(node).filter(([key, value]) => !skipped.has(key) && !(Array.isArray(value) && value.length === 0));
  if (node['kind'] === 'literal') return JSON.stringify(node['value']);
  if (node['kind'] === 'text') return JSON.stringify(node['text']);
  if (node['kind'] === 'subject') return '_';
  const shown = fields.map(
    ([key, value]) => `${key}:${typeof value === 'string' && quoted.has(key) ? JSON.stringify(value) : outline(value)}`,
  );
  if (node['kind'] === 'reference') return `@${String(node['name'])}${(node['steps'] as unknown[]).map(outline).join('')}`;
  return `${typeof node['kind'] === 'string' ? node['kind'] : ''}{${shown.join(' ')}}`;
}

const quoted = new Set(['text', 'fallback', 'key', 'prefix']);
const skipped = new Set(['at', 'nameAt', 'aliasAt', 'kind', 'written']);
