/** Tells effects and other statements from values where an action may be either. */
import type { Action, Expression, Statement } from '../../../grammar/ast.js';

const STATEMENTS: ReadonlySet<string> = new Set<Statement['kind']>([
  'var', 'let', 'append-to', 'exe', 'shadow', 'show', 'run', 'call', 'log', 'output', 'append', 'file', 'files', 'if', 'return',
  'control', 'bail', 'import', 'export', 'hook', 'guard', 'checkpoint', 'prose', 'fence',
]); // prettier-ignore

/** `when`, `for` and `loop` are both; here they count as values. */
export function isStatement(action: Action): action is Exclude<Statement, Expression> {
  return STATEMENTS.has(action.kind);
}
