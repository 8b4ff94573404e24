/** Lists the functions of a script whose calls are recorded and reused, for the line that an editor shows above each. */
import type { ParsedScript } from '../validate/rule.js';
import { rangeOf, type Range } from './positions.js';
import { extentsOf } from './statements.js';

export interface LlmFunction {
  readonly name: string;
  readonly range: Range;
}

export function llmFunctionsOf(file: ParsedScript): readonly LlmFunction[] {
  return extentsOf(file).flatMap(({ statement, from, to }) =>
    statement.kind === 'exe' && statement.labels.includes('llm') ? [{ name: statement.name, range: rangeOf(file.text, from, to) }] : [],
  );
}
