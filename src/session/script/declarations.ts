/** Lists the functions that a script declares, so that `--resume @fn` accepts a function that was never called. */
import type { Script, Statement } from '../../../grammar/ast.js';
import type { Declarations } from '../../../replay/resume/invalidation.js';

/** Includes the names that the script imports, because they may be functions. */
export function declarationsOf(script: Script): Declarations {
  const names = new Set<string>();
  const visit = (statement: Statement): void => {
    if (statement.kind === 'exe') names.add(statement.name);
    else if (statement.kind === 'fence') statement.statements.forEach(visit);
    else if (statement.kind === 'import') for (const { name, alias } of statement.names ?? []) names.add(name).add(alias ?? name);
  };
  script.statements.forEach(visit);
  return { declares: (fn) => names.has(fn), knownFunctions: [...names] };
}
