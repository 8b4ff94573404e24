/** Conditions. A condition that does not parse has one code, whatever is wrong with it: `parse-dot.ts` gives it. */
import { SyntaxFailure } from '../../errors.js';
import { describe, look, type ErrorContext } from './error-context.js';

const KEYS = 'a key is `outcome`, `preferred_label` or `context.NAME`';

/** Where a clause should begin. */
export function clause(spot: ErrorContext): false {
  const { at } = spot;
  if (at >= spot.text.length || look(/&&/y, spot)) refuse(at, 'A clause is missing beside `&&`', 'write `key=value` on both sides');
  if (look(/!/y, spot)) refuse(at, '`!` does not negate a clause', 'write `key!=value`');
  refuse(at, `Expected a clause, found ${describe(spot)}`, `${KEYS}; write \`outcome=success\``);
}

/** True when it is one of the three forms. */
export function conditionKey({ at }: ErrorContext, word: string): true {
  if (word === 'outcome' || word === 'preferred_label' || word.startsWith('context.')) return true;
  refuse(at, `\`${word}\` is no key of a condition`, KEYS);
}

export function operator(spot: ErrorContext): false {
  const { at } = spot;
  const hint = 'clauses compare with `=` or `!=`';
  if (look(/==/y, spot)) refuse(at, '`==` is no operator', 'write `=`');
  if (look(/!==/y, spot)) refuse(at, '`!==` is no operator', 'write `!=`');
  if (at >= spot.text.length || look(/&&/y, spot)) refuse(at, 'A key alone is no clause', `${hint}: write \`key=true\``);
  refuse(at, `Expected \`=\` or \`!=\`, found ${describe(spot)}`, hint);
}

export function literal(spot: ErrorContext): false {
  const written = look(/[^\s&|"]+/y, spot)?.[0];
  if (written === undefined) refuse(spot.at, `Expected a value, found ${describe(spot)}`, 'an empty text is written ""');
  refuse(spot.at, `\`${written}\` is no value of a condition`, `write it in quotes: "${written}"`);
}

export function behindClause(spot: ErrorContext): false {
  const { at } = spot;
  if (look(/\|/y, spot)) refuse(at, 'A condition has no `||`', 'draw a second edge with the other condition');
  if (look(/&(?!&)/y, spot)) refuse(at, '`&` does not join clauses', 'write `&&`');
  refuse(at, `Expected \`&&\` or the end of the condition, found ${describe(spot)}`, 'a value with blanks is written in quotes');
}

function refuse(at: number, message: string, hint: string): never {
  throw new SyntaxFailure(message, { at, hint });
}
