/** Importing is silent: what a module does at its top level stays undone. world.md 12.2. */
import type { Statement } from '../../grammar/ast.js';
import type { Frame } from '../runtime/frame.js';

const EFFECTS: ReadonlySet<string> = new Set<Statement['kind']>([
  'prose',
  'show',
  'run',
  'call',
  'log',
  'output',
  'append',
  'file',
  'files',
]);

/** Also inside a top-level `if`, `when` or `for`. Functions and hooks of the module do what they say, whoever calls them. */
export function isSilenced(statement: Statement, frame: Frame): boolean {
  return frame.module.silent && !frame.stack && frame.context.suppress === 'nothing' && EFFECTS.has(statement.kind);
}
