/** Sorts the kinds of statements: which actions have no value, and which effects an import leaves out. */
import type { Action, Expression, Statement } from '../../../grammar/ast.js';
import type { Frame } from '../../runtime/frame.js';

type Kinds = ReadonlySet<string>;

const WITHOUT_VALUE: Kinds = new Set<Statement['kind']>([
  'var', 'let', 'append-to', 'exe', 'shadow', 'show', 'run', 'call', 'log', 'output', 'append', 'file', 'files', 'if', 'return',
  'control', 'bail', 'import', 'export', 'needs', 'hook', 'guard', 'checkpoint', 'prose', 'fence',
]); // prettier-ignore

const EFFECTS: Kinds = new Set<Statement['kind']>(['prose', 'show', 'run', 'call', 'log', 'output', 'append', 'file', 'files']);

/** Counts `when`, `for` and `loop`, which may be statements or expressions, as expressions. */
export function isStatement(action: Action): action is Exclude<Statement, Expression> {
  return WITHOUT_VALUE.has(action.kind);
}

/**
 * Importing is silent: the effects at the top level of a module are left out, also inside its `if`, `when` and `for`. Functions and hooks
 * of the module have their effects wherever they run. world.md 12.2.
 */
export function isSilenced(statement: Statement, frame: Frame): boolean {
  return frame.module.silent && !frame.stack && frame.context.suppress === 'nothing' && EFFECTS.has(statement.kind);
}
