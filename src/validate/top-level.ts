/** Lists the statements of a file, and of a document those in its fences. */
import type { RunFence, Script, Statement } from '../../grammar/ast.js';

export function topLevel({ statements }: Pick<Script, 'statements'>): readonly Exclude<Statement, RunFence>[] {
  if (!statements.some(isFence)) return statements as readonly Exclude<Statement, RunFence>[]; // a script, which a copy of each list would slow down
  return statements.flatMap((statement) => (isFence(statement) ? topLevel(statement) : [statement]));
}

function isFence(statement: Statement): statement is RunFence {
  return statement.kind === 'fence';
}
