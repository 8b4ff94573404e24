/** Collects the loads of files in a script, wherever they are written. */
import type { Load } from '../../grammar/ast.js';

export function loadsOf(part: unknown, found: Load[] = []): readonly Load[] {
  if (typeof part !== 'object' || part === null) return found;
  if (isLoad(part)) found.push(part);
  for (const below of Object.values(part)) loadsOf(below, found);
  return found;
}

function isLoad(part: object): part is Load {
  return 'kind' in part && part.kind === 'load';
}
