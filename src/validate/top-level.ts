/** The statements of a file: those of the fences in a document, too. */
import type { RunFence, Script, Statement } from '../../grammar/ast.js';

export function topLevel({ statements }: Pick<Script, 'statements'>): readonly Exclude<Statement, RunFence>[] {
  return statements.flatMap((statement) => (statement.kind === 'fence' ? topLevel(statement) : [statement]));
}
