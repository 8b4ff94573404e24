/** `export { @a, @b }`: what importers see. world.md 12.1. The names are looked up when the module has run. */
import type { Export } from '../../grammar/ast.js';
import type { Completion } from '../runtime/completion.js';
import type { Frame } from '../runtime/frame.js';

export async function executeExport(node: Export, frame: Frame): Promise<Completion> {
  for (const { name } of node.names) frame.module.exports.add(name);
  return undefined;
}
