/** Slips in blocks, conditions and loops. */
import type { Bail, Control } from '../../ast.js';
import { fieldAppend, assignment } from './bindings.js';
import { otherChange, otherWord } from './statements.js';
import { value } from './values.js';
import {
  words,
  foreign,
  topLevel,
  valueWord,
  atEnd,
  unclosedBracket,
  lineOf,
  otherOperator,
  fail,
  look,
  describe,
  pastSpace,
  type ErrorContext,
} from './error-context.js';

/** Inside a block, where neither a statement nor the closing bracket stands. */
export function block(original: ErrorContext): false {
  const spot = pastSpace(original);
  const { text, at } = spot;
  if (atEnd(spot)) unclosedBracket(spot, 'Unclosed block: expected `]`');
  if (look(/,/y, spot)) fail(at, 'A comma does not separate statements', 'put each statement on a line of its own, or a `;` between them');
  const slash = look(/\/([a-z]+)/y, spot);
  if (slash) fail(at, `\`${slash[0]}\`: inside brackets statements carry no slash`, `write \`${slash[1]}\``);
  if (text.startsWith('//', at)) fail(at, '`//` does not begin a comment', 'comments begin with `>>`');
  if (look(/\]/y, spot)) {
    if (/\[\s*$/.test(text.slice(Math.max(0, at - 200), at))) fail(at, 'An empty block', 'a block needs at least one statement');
    return false;
  }
  const word = look(/[A-Za-z][\w-]*/y, spot)?.[0];
  if (word && topLevel.has(word)) {
    const isAtMargin = at === 0 || text[at - 1] === '\n';
    const hint = isAtMargin ? `or the block that begins in line ${lineOf(text, spot.bracketAt)} lacks its \`]\`` : undefined;
    fail(at, `\`${word}\` stands only at the top level of a file, not inside of a block`, hint);
  }
  if (word === 'else') {
    fail(at, '`else` stands behind the `]` of an `if`', `the block that begins in line ${lineOf(text, spot.bracketAt)} is still open`);
  }
  if (word && foreign.has(word)) fail(at, `\`${word}\` is not part of this runtime`);
  if (word === 'while')
    fail(at, 'There is no `while` statement', 'use `loop(LIMIT) until CONDITION [ … ]`, or the stage `VALUE | while(CAP) @f`');
  if (word && words.has(word)) return false;
  if (word) otherWord(spot, word);
  const field = look(/@[A-Za-z_][\w-]*(?:\.[\w-]+|\[[^\]\n]*\])+\s*\+=/y, spot);
  if (field) fieldAppend(spot);
  otherChange(spot);
  const name = look(/@([A-Za-z_][\w-]*)(?:\.[\w-]+|\[[^\]\n]*\])*/y, spot);
  if (name && look(/\s*=(?![=>~])/y, { text, at: at + name[0].length })) assignment(spot);
  if (spot.furthest > at + (name?.[0].length ?? word?.length ?? 0)) return false;
  if (name) fail(at, `\`${name[0]}\` alone is no statement`, `call it (\`${name[0]}()\`), show it, or return it with \`=> ${name[0]}\``);
  if (/^[-+*/%]/.test(text.slice(at))) fail(at, `\`${text[at]}\` needs a blank on both sides`);
  fail(at, `Expected a statement or \`]\`, found ${describe(text, at)}`);
}

export function noBlock(spot: ErrorContext): false {
  if (look(/\[/y, spot)) return false;
  if (look(/\{/y, spot)) fail(spot.at, 'A block stands in square brackets', 'write `[ … ]`');
  const limit = look(/[\w@.-]+/y, spot)?.[0];
  if (limit && look(/\/?loop(?![\w-])\s*$/y, { text: spot.text.slice(0, spot.at), at: spot.statementAt }))
    fail(spot.at, 'The limit of a `loop` stands in parentheses', `write \`loop(${limit}) [ … ]\``);
  fail(spot.at, `Expected a block \`[ … ]\`, found ${describe(spot.text, spot.at)}`, 'the brackets are required');
}

export function condition(spot: ErrorContext): false {
  return value(spot);
}

export function ifBody(original: ErrorContext): false {
  const spot = pastSpace(original);
  if (look(/\[/y, spot)) return false;
  if (look(/=>/y, spot)) fail(spot.at, '`if` takes a block, not an arrow', 'write `if CONDITION [ … ]`, or `when CONDITION => ACTION`');
  if (look(/=(?!=)/y, spot)) fail(spot.at, 'Unexpected `=` in a condition', 'compare with `==`');
  if (look(/\{/y, spot)) fail(spot.at, 'A block stands in square brackets', 'write `if CONDITION [ … ]`');
  otherOperator(spot);
  if (look(/in(?![\w-])/y, spot)) fail(spot.at, '`in` is no operator', 'write `@list.includes(@item)`');
  if (spot.furthest > spot.at) return false;
  fail(
    spot.at,
    `Expected a block \`[ … ]\` behind the condition of \`if\`, found ${describe(spot.text, spot.at)}`,
    'write `if CONDITION [ … ]`',
  );
}

/** `when any [ … ]`, `when all [ … ]` */
export function whenWord(spot: ErrorContext): false {
  const word = look(/(any|all)\s*\[/y, spot)?.[1];
  if (word) fail(spot.at, `\`when ${word} [ … ]\` no longer exists`, `join the conditions with \`${word === 'any' ? '||' : '&&'}\``);
  return false;
}

export function when(spot: ErrorContext): false {
  const wrong = look(/[^\n[\]"'`]*?[^=!<>~\s+]\s*(=)(?![=>~])/y, spot);
  if (wrong) fail(spot.at + wrong[0].length - 1, 'Unexpected `=` in a condition', 'compare with `==`');
  const { text, furthest } = spot;
  if (furthest > spot.at && !/[\n[]|=>/.test(text.slice(spot.at, furthest))) {
    if (text[furthest] === '{') fail(furthest, 'The arms of a `when` stand in square brackets', 'write `when … [ CONDITION => ACTION ]`');
    const word = look(/[a-z]+(?![\w-])/y, { text, at: furthest })?.[0];
    if (word && words.has(word))
      fail(
        furthest,
        `Expected \`=>\` or \`[\` behind the condition of \`when\`, found \`${word}\``,
        `write \`when CONDITION => ${word} …\``,
      );
  }
  if (furthest > spot.at) return false;
  return value(spot);
}

/** Among the arms of a `when`. */
export function arms(original: ErrorContext): false {
  const spot = pastSpace(original);
  const { text, at } = spot;
  if (atEnd(spot)) unclosedBracket(spot, 'Unclosed `when`: expected `]`');
  if (look(/,/y, spot))
    fail(at, 'A comma does not separate the arms of a `when`', 'put each arm on a line of its own, or a `;` between them');
  const word = look(/[a-z]+(?![\w-])/y, spot)?.[0];
  if (word && words.has(word) && !look(/(?:when|for|foreach|loop|run|let)/y, spot)) {
    fail(
      at,
      `\`${word}\` is no arm: \`when … [ … ]\` holds arms, \`CONDITION => ACTION\``,
      'write `when CONDITION => [ … ]`, or use `if CONDITION [ … ]`',
    );
  }
  const bare = look(/[A-Za-z_][\w-]*/y, spot)?.[0];
  if (bare && /^(?:else|default|otherwise|_)$/.test(bare))
    fail(at, `\`${bare}\` is no condition`, 'the last arm, for everything else, is `* => ACTION`');
  if (bare === 'case') fail(at, '`case` is no condition', 'an arm is `CONDITION => ACTION`, without a word before it');
  if (bare && !valueWord.test(bare) && spot.furthest <= at + bare.length) return value(spot);
  if (look(/[^\n[\]"'`]*?[^=!<>~\s+]\s*=(?![=>~])[^\n]*=>/y, spot)) fail(at, 'Unexpected `=` in a condition', 'compare with `==`');
  const equals = look(/[^\n[\]=!<>~]*=(?![=>~])/y, spot);
  if (equals) fail(at + equals[0].length - 1, 'Expected `=>`, found `=`', 'an arm is `CONDITION => ACTION`');
  const reached = text.startsWith('->', spot.furthest - 1) ? spot.furthest - 1 : spot.furthest;
  if (reached > at && !/=>|\n/.test(text.slice(at, reached)) && look(/["'`@\w[:]|->/y, { text, at: reached }))
    fail(reached, `Expected \`=>\`, found ${text[reached] === '-' ? '`->`' : describe(text, reached)}`, 'an arm is `CONDITION => ACTION`');
  return false;
}

export function action(spot: ErrorContext): false {
  const { text, at } = spot;
  const word = look(/[a-z]+(?![\w-])/y, spot)?.[0];
  if (word && topLevel.has(word)) fail(at, `\`${word}\` cannot stand behind an arrow`);
  if (word && (words.has(word) || /^(?:retry|skip|pass)$/.test(word))) return false;
  if (look(/[\]\r\n;]/y, spot) || at >= text.length) fail(at, 'Expected an action or a value behind `=>`');
  return value(spot);
}

/** `=> done V`: a control word is a statement of its own. */
export function controlReturn(control: Control | Bail): never {
  const word = control.kind === 'bail' ? 'bail' : control.word;
  fail(control.at, `\`${word}\` is no value`, `write it without the arrow`);
}

export function forBinding(spot: ErrorContext): never {
  const cap = look(/\d+/y, spot)?.[0];
  if (cap && /parallel\s*$/.test(spot.text.slice(spot.statementAt, spot.at)))
    fail(spot.at, 'The cap of `for parallel` stands in parentheses', `write \`for parallel(${cap}) @item in @list => …\``);
  const name = look(/[A-Za-z_][\w-]*/y, spot)?.[0];
  if (name) fail(spot.at, `Missing \`@\` before \`${name}\` in \`for\``, `write \`for @${name} in @list => …\``);
  fail(spot.at, `Expected a loop variable behind \`for\`, found ${describe(spot.text, spot.at)}`, 'write `for @item in @list => …`');
}

export function forIn(spot: ErrorContext): never {
  fail(spot.at, `Expected \`in\` behind the variable of \`for\`, found ${describe(spot.text, spot.at)}`, 'write `for @item in @list => …`');
}

export function forSource(spot: ErrorContext): false {
  if (look(/=>/y, spot)) fail(spot.at, 'Expected the list of the `for` behind `in`', 'write `for @item in @list => …`');
  return value(spot);
}

export function forBody(original: ErrorContext): false {
  const spot = pastSpace(original);
  if (spot.furthest > spot.at) return false;
  fail(spot.at, `Expected \`=>\` or a block \`[ … ]\` in \`for\`, found ${describe(spot.text, spot.at)}`);
}

export function loopLimit(spot: ErrorContext): never {
  fail(spot.at, 'The parentheses of a `loop` need a limit', 'write `loop(10) [ … ]`, `loop(endless) [ … ]`, or `loop [ … ]`');
}
