/** Collects the loads of files in a script, wherever they are written. */
import type { Load } from '../../grammar/ast.js';
import { eachNode } from './each-node.js';

export function loadsOf(tree: unknown): readonly Load[] {
  const found: Load[] = [];
  eachNode(tree, (node) => {
    if (node.kind === 'load') found.push(node as Load);
  });
  return found;
}
