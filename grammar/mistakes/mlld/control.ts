/** Explains mistakes in blocks, conditions and loops. */
import type { Bail, Control } from '../../ast.js';
import { fieldAppend, assignment } from './bindings.js';
import { foreignStatement } from './foreign.js';
import { otherChange, otherWord } from './statements.js';
import { value } from './values.js';
import {
  words,
  topLevel,
  valueWord,
  atEnd,
  unclosedBracket,
  unclosedByIndentation,
  closedByAnother,
  lineOf,
  otherOperator,
  fail,
  look,
  describe,
  pastSpace,
  type ErrorContext,
} from './error-context.js';

const UNCLOSED_BLOCK = 'Unclosed block: expected `]`';
const UNCLOSED_WHEN = 'Unclosed `when`: expected `]`';

/** Called inside a block where a statement or the closing bracket is expected. */
export function block(original: ErrorContext): false {
  const context = pastSpace(original);
  const { text, at } = context;
  if (atEnd(context)) unclosedBracket(context, UNCLOSED_BLOCK);
  if (look(/,/y, context))
    fail(at, 'A comma does not separate statements', 'put each statement on a line of its own, or a `;` between them');
  const slash = look(/\/([a-z]+)/y, context);
  if (slash) fail(at, `\`${slash[0]}\`: inside brackets statements have no slash`, `write \`${slash[1]}\``);
  if (text.startsWith('//', at)) fail(at, '`//` does not begin a comment', 'comments begin with `>>`');
  if (look(/\]/y, context)) {
    if (/\[\s*$/.test(text.slice(Math.max(0, at - 200), at))) fail(at, 'An empty block', 'a block needs at least one statement');
    return false;
  }
  closedByAnother(context, UNCLOSED_BLOCK);
  const word = look(/[A-Za-z][\w-]*/y, context)?.[0];
  if (word && topLevel.has(word)) {
    unclosedByIndentation(context, UNCLOSED_BLOCK);
    fail(at, `\`${word}\` is allowed only at the top level of a file, not inside a block`);
  }
  if (word === 'else') {
    unclosedByIndentation(context, UNCLOSED_BLOCK);
    fail(at, '`else` belongs after the `]` of an `if`', `the block that begins in line ${lineOf(text, context.bracketAt)} is not closed`);
  }
  foreignStatement(at, word);
  if (word === 'while')
    fail(at, 'There is no `while` statement', 'use `loop(LIMIT) until CONDITION [ … ]`, or the stage `VALUE | while(CAP) @f`');
  if (word && words.has(word)) return false;
  if (word) otherWord(context, word);
  const field = look(/@[A-Za-z_][\w-]*(?:\.[\w-]+|\[[^\]\n]*\])+\s*\+=/y, context);
  if (field) fieldAppend(context);
  otherChange(context);
  const name = look(/@([A-Za-z_][\w-]*)(?:\.[\w-]+|\[[^\]\n]*\])*/y, context);
  if (name && look(/\s*=(?![=>~])/y, { text, at: at + name[0].length })) assignment(context);
  const end = name ? pastSpace({ ...context, at: at + name[0].length }).at : at + (word?.length ?? 0);
  if (context.furthest > end) return false;
  if (name) fail(at, `\`${name[0]}\` alone is not a statement`, `call it (\`${name[0]}()\`), show it, or return it with \`=> ${name[0]}\``);
  if (/^[-+*/%]/.test(text.slice(at))) fail(at, `\`${text[at]}\` needs a blank on both sides`);
  const isValue = look(/["'`{[(<\d]|::/y, context);
  if (isValue || text[at] === '*') unclosedByIndentation(context, UNCLOSED_BLOCK);
  const hint = isValue ? 'a value alone is not a statement: return it with `=> …`, or bind it with `let @name = …`' : undefined;
  fail(at, `Expected a statement or \`]\`, found ${describe(text, at)}`, hint);
}

export function noBlock(context: ErrorContext): false {
  if (look(/\[/y, context)) return false;
  if (look(/\{/y, context)) fail(context.at, 'A block is written in square brackets', 'write `[ … ]`');
  const limit = look(/[\w@.-]+/y, context)?.[0];
  if (limit && look(/\/?loop(?![\w-])\s*$/y, { text: context.text.slice(0, context.at), at: context.statementAt }))
    fail(context.at, 'The limit of a `loop` is written in parentheses', `write \`loop(${limit}) [ … ]\``);
  fail(context.at, `Expected a block \`[ … ]\`, found ${describe(context.text, context.at)}`, 'the brackets are required');
}

export function condition(context: ErrorContext): false {
  return value(context);
}

export function ifBody(original: ErrorContext): false {
  const context = pastSpace(original);
  if (look(/\[/y, context)) return false;
  if (look(/=>/y, context))
    fail(context.at, '`if` takes a block, not an arrow', 'write `if CONDITION [ … ]`, or `when CONDITION => ACTION`');
  if (look(/=(?!=)/y, context)) fail(context.at, 'Unexpected `=` in a condition', 'compare with `==`');
  if (look(/\{/y, context)) fail(context.at, 'A block is written in square brackets', 'write `if CONDITION [ … ]`');
  otherOperator(context);
  if (look(/in(?![\w-])/y, context)) fail(context.at, '`in` is not an operator', 'write `@list.includes(@item)`');
  if (context.furthest > context.at) return false;
  fail(
    context.at,
    `Expected a block \`[ … ]\` after the condition of \`if\`, found ${describe(context.text, context.at)}`,
    'write `if CONDITION [ … ]`',
  );
}

/** Refuses `when any [ … ]` and `when all [ … ]`. */
export function whenWord(context: ErrorContext): false {
  const word = look(/(any|all)\s*\[/y, context)?.[1];
  if (word) fail(context.at, `\`when ${word} [ … ]\` no longer exists`, `join the conditions with \`${word === 'any' ? '||' : '&&'}\``);
  return false;
}

export function when(context: ErrorContext): false {
  const wrong = look(/[^\n[\]"'`]*?[^=!<>~\s+]\s*(=)(?![=>~])/y, context);
  if (wrong) fail(context.at + wrong[0].length - 1, 'Unexpected `=` in a condition', 'compare with `==`');
  const arrow = look(/[^\n[\]"'`]*?->/y, context)?.[0];
  if (arrow) fail(context.at + arrow.length - 2, 'Expected `=>`, found `->`', 'write `when CONDITION => ACTION`');
  const { text, furthest } = context;
  if (furthest > context.at && !/[\n[]|=>/.test(text.slice(context.at, furthest))) {
    if (text[furthest] === '{')
      fail(furthest, 'The arms of a `when` are written in square brackets', 'write `when … [ CONDITION => ACTION ]`');
    const word = look(/[a-z]+(?![\w-])/y, { text, at: furthest })?.[0];
    if (word && words.has(word))
      fail(
        furthest,
        `Expected \`=>\` or \`[\` after the condition of \`when\`, found \`${word}\``,
        `write \`when CONDITION => ${word} …\``,
      );
  }
  if (furthest > context.at) return false;
  return value(context);
}

/** Called among the arms of a `when`. */
export function arms(original: ErrorContext): false {
  const context = pastSpace(original);
  const { text, at } = context;
  if (atEnd(context)) unclosedBracket(context, UNCLOSED_WHEN);
  if (text[at] !== ']') closedByAnother(context, UNCLOSED_WHEN);
  if (look(/,/y, context))
    fail(at, 'A comma does not separate the arms of a `when`', 'put each arm on a line of its own, or a `;` between them');
  const word = look(/[a-z]+(?![\w-])/y, context)?.[0];
  if (word && words.has(word) && !look(/(?:when|for|foreach|loop|run|let)/y, context)) {
    unclosedByIndentation(context, UNCLOSED_WHEN);
    fail(
      at,
      `\`${word}\` is not an arm: \`when … [ … ]\` holds arms, \`CONDITION => ACTION\``,
      'write `when CONDITION => [ … ]`, or use `if CONDITION [ … ]`',
    );
  }
  const bare = look(/[A-Za-z_][\w-]*/y, context)?.[0];
  if (bare && /^(?:else|default|otherwise|_)$/.test(bare))
    fail(at, `\`${bare}\` is not a condition`, 'the last arm, for everything else, is `* => ACTION`');
  if (bare === 'case') fail(at, '`case` is not a condition', 'an arm is `CONDITION => ACTION`, without a word before it');
  if (bare && !valueWord.test(bare) && context.furthest <= at + bare.length) return value(context);
  if (look(/[^\n[\]"'`]*?[^=!<>~\s+]\s*=(?![=>~])[^\n]*=>/y, context)) fail(at, 'Unexpected `=` in a condition', 'compare with `==`');
  const equals = look(/[^\n[\]=!<>~]*=(?![=>~])/y, context);
  if (equals) fail(at + equals[0].length - 1, 'Expected `=>`, found `=`', 'an arm is `CONDITION => ACTION`');
  const reached = text.startsWith('->', context.furthest - 1) ? context.furthest - 1 : context.furthest;
  if (reached > at && !/=>|\n/.test(text.slice(at, reached)) && look(/["'`@\w[:]|->/y, { text, at: reached }))
    fail(reached, `Expected \`=>\`, found ${text[reached] === '-' ? '`->`' : describe(text, reached)}`, 'an arm is `CONDITION => ACTION`');
  return false;
}

export function action(context: ErrorContext): false {
  const { text, at } = context;
  const word = look(/[a-z]+(?![\w-])/y, context)?.[0];
  if (word && topLevel.has(word)) fail(at, `\`${word}\` cannot follow an arrow`);
  if (word && (words.has(word) || /^(?:retry|skip|pass)$/.test(word))) return false;
  if (look(/[\]\r\n;]/y, context) || at >= text.length) fail(at, 'Expected an action or a value after `=>`');
  return value(context);
}

/** Refuses `=> done V`: a control word is a statement of its own. */
export function controlReturn(control: Control | Bail): never {
  const word = control.kind === 'bail' ? 'bail' : control.word;
  fail(control.at, `\`${word}\` is not a value`, `write it without the arrow`);
}

export function forBinding(context: ErrorContext): never {
  const cap = look(/\d+/y, context)?.[0];
  if (cap && /parallel\s*$/.test(context.text.slice(context.statementAt, context.at)))
    fail(context.at, 'The cap of `for parallel` is written in parentheses', `write \`for parallel(${cap}) @item in @list => …\``);
  const name = look(/[A-Za-z_][\w-]*/y, context)?.[0];
  if (name) fail(context.at, `Missing \`@\` before \`${name}\` in \`for\``, `write \`for @${name} in @list => …\``);
  fail(
    context.at,
    `Expected a loop variable after \`for\`, found ${describe(context.text, context.at)}`,
    'write `for @item in @list => …`',
  );
}

export function forIn(context: ErrorContext): never {
  fail(
    context.at,
    `Expected \`in\` after the variable of \`for\`, found ${describe(context.text, context.at)}`,
    'write `for @item in @list => …`',
  );
}

export function forSource(context: ErrorContext): false {
  if (look(/=>/y, context)) fail(context.at, 'Expected the list of the `for` after `in`', 'write `for @item in @list => …`');
  return value(context);
}

export function forBody(original: ErrorContext): false {
  const context = pastSpace(original);
  if (context.furthest > context.at) return false;
  const hint = look(/parallel(?![\w-])/y, context) ? 'write `for parallel @item in @list => …`' : undefined;
  fail(context.at, `Expected \`=>\` or a block \`[ … ]\` in \`for\`, found ${describe(context.text, context.at)}`, hint);
}

export function loopLimit(context: ErrorContext): never {
  fail(context.at, 'The parentheses of a `loop` need a limit', 'write `loop(10) [ … ]`, `loop(endless) [ … ]`, or `loop [ … ]`');
}
