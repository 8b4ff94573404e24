/** Explains mistakes in conditions. All of them have one code, which `parse-dot.ts` sets. */
import { SyntaxFailure } from '../../errors.js';
import { describe, look, type ErrorContext } from './error-context.js';

const KEYS = 'a key is `outcome`, `preferred_label` or `context.NAME`';

/** Called at a place where a clause should begin. */
export function clause(context: ErrorContext): false {
  const { at } = context;
  if (at >= context.text.length || look(/&&/y, context)) refuse(at, 'A clause is missing beside `&&`', 'write `key=value` on both sides');
  if (look(/!/y, context)) refuse(at, '`!` does not negate a clause', 'write `key!=value`');
  refuse(at, `Expected a clause, found ${describe(context)}`, `${KEYS}; write \`outcome=success\``);
}

/** Returns true for a key of one of the three forms. */
export function conditionKey({ at }: ErrorContext, word: string): true {
  if (word === 'outcome' || word === 'preferred_label' || word.startsWith('context.')) return true;
  refuse(at, `\`${word}\` is not a key of a condition`, KEYS);
}

export function operator(context: ErrorContext): false {
  const { at } = context;
  const hint = 'clauses compare with `=` or `!=`';
  if (look(/==/y, context)) refuse(at, '`==` is not an operator', 'write `=`');
  if (look(/!==/y, context)) refuse(at, '`!==` is not an operator', 'write `!=`');
  if (at >= context.text.length || look(/&&/y, context)) refuse(at, 'A key alone is not a clause', `${hint}: write \`key=true\``);
  refuse(at, `Expected \`=\` or \`!=\`, found ${describe(context)}`, hint);
}

export function literal(context: ErrorContext): false {
  const written = look(/[^\s&|"]+/y, context)?.[0];
  if (written === undefined) refuse(context.at, `Expected a value, found ${describe(context)}`, 'an empty text is written ""');
  refuse(context.at, `\`${written}\` is not a value of a condition`, `write it in quotes: "${written}"`);
}

export function behindClause(context: ErrorContext): false {
  const { at } = context;
  if (look(/\|/y, context)) refuse(at, 'A condition has no `||`', 'draw a second edge with the other condition');
  if (look(/&(?!&)/y, context)) refuse(at, '`&` does not join clauses', 'write `&&`');
  refuse(at, `Expected \`&&\` or the end of the condition, found ${describe(context)}`, 'a value with spaces is written in quotes');
}

function refuse(at: number, message: string, hint: string): never {
  throw new SyntaxFailure(message, { at, hint });
}
