/** Lists the statements of a file, and of a document those in its fences. */
import type { RunFence, Script, Statement } from '../../grammar/ast.js';

export function topLevel({ statements }: Pick<Script, 'statements'>): readonly Exclude<Statement, RunFence>[] {
  return statements.flatMap((statement) => (statement.kind === 'fence' ? topLevel(statement) : [statement]));
}
