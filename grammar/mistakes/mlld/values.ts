/** Slips in literals, strings, templates, arguments and file references. */
import type { Reference } from '../../ast.js';
import {
  words,
  valueWord,
  atEnd,
  unclosed,
  unclosedBracket,
  otherOperator,
  fail,
  look,
  pastBlanks,
  describe,
  pastSpace,
  type ErrorContext,
} from './error-context.js';

/** Where a value has to stand and something else does. */
export function value(spot: ErrorContext): false {
  const { text, at } = spot;
  if (look(/['"`@<([{!]|::/y, spot)) return broken(spot);
  numberSlip(spot);
  const word = look(/[A-Za-z_][\w-]*/y, spot)?.[0];
  if (word === 'True' || word === 'False') fail(at, `\`${word}\` is not a value`, `write \`${word.toLowerCase()}\``);
  if (word === 'None' || word === 'undefined' || word === 'nil' || word === 'NULL' || word === 'Null')
    fail(at, `\`${word}\` is not a value`, 'write `null`');
  if (
    word &&
    words.has(word) &&
    text.slice(0, at).trimEnd().endsWith('=') &&
    /\n[ \t]*$/.test(text.slice(0, at)) &&
    !valueWord.test(word)
  ) {
    fail(spot.statementAt, 'Expected a value behind `=`');
  }
  if (word === 'exe' || word === 'checkpoint' || word === 'hook' || word === 'guard') fail(at, `\`${word}\` is a statement, not a value`);
  if (word && valueWord.test(word)) return false;
  if (word === 'if') fail(at, '`if` is a statement, not a value', 'write `CONDITION ? A : B`, or `when [ CONDITION => A; * => B ]`');
  if (word === 'not') fail(at, '`not` is no operator', 'write `!`');
  if (word === 'require') fail(at, '`require` is not a value', 'write `import { @name } from "./file.mld"`');
  if (word === 'function' || word === 'lambda') fail(at, 'There are no functions without a name', 'write `exe @name(a, b) = …`');
  if (word && look(/[A-Za-z]{1,2}["'`]/y, spot))
    fail(at, `A text has no prefix (\`${word}\`)`, 'leave it out: names with an at sign are filled in');
  if (word && look(/[A-Za-z_][\w-]*[ \t]+(?:-|["'@])/y, spot))
    fail(at, `\`${word}\` is not a value`, `a command is written \`cmd { ${word} … }\`, a text in quotes`);
  if (word) fail(at, `\`${word}\` is not a value`, `write text in quotes ("${word}") or a variable with an at sign (@${word})`);
  if (look(/[\u2018-\u201F\u00AB\u00BB]/y, spot))
    fail(at, `\`${text[at]}\` is no quote of a text`, 'a text stands in straight quotes: `"…"`');
  const dollar = look(/\$([A-Za-z_][\w-]*)/y, spot)?.[1];
  if (dollar) fail(at, `\`$${dollar}\` is not a value: a name begins with an at sign`, `write \`@${dollar}\``);
  if (look(/\d+\.\.\.?\d*/y, spot)) fail(at, 'There are no ranges', 'write the numbers as a list, or make the list in `js { … }`');
  if (text[at] === '>' && text[at - 1] === '=') fail(at - 1, 'Expected `=`, found `=>`');
  if (look(/>>|<<|#/y, spot)) fail(at, 'A comment stands where a value is expected');
  fail(at, `Expected a value, found ${describe(text, at)}`);
}

function broken(spot: ErrorContext): false {
  if (look(/@[^A-Za-z_]/y, spot)) fail(spot.at, 'Expected a name behind `@`: a name must start with a letter or underscore');
  return false;
}

function numberSlip(spot: ErrorContext): void {
  const { at } = spot;
  if (look(/\.\d/y, spot)) fail(at, 'A number needs a digit before its dot', 'write `0.5`');
  if (look(/\+[\d@]/y, spot)) fail(at, 'There is no unary plus', 'leave the `+` out');
  if (look(/-[@(]/y, spot)) fail(at, 'There is no unary minus before a reference', 'write `0 - @x`');
}

/** Behind the digits of a number. */
export function number({ text, at }: ErrorContext): never {
  let from = at;
  while (from > 0 && /[\d.-]/.test(text[from - 1] as string)) from--;
  const written = look(/-?[\d.]*[\w.]*/y, { text, at: from })?.[0] ?? '';
  const hints: [RegExp, string][] = [
    [/^-?\d+\.?\d*[eE]/, 'numbers have no exponent: write all digits'],
    [/^0[xX]/, 'numbers are decimal'],
    [/^-?\d+\.$/, 'leave the dot out or write digits behind it'],
    [/^\d+(?:\.\d+)?(?:ms|[smhdw])$/, 'a duration is written in quotes here'],
    [/_/, 'numbers have no separators'],
    [/\.[A-Za-z_]/, 'bind the number to a variable before you use a method'],
  ];
  const hint = hints.find(([form]) => form.test(written))?.[1];
  fail(from, `\`${written}\` is not a number`, hint);
}

export function unclosedString(spot: ErrorContext & { readonly opener: number; readonly quote: string }): never {
  const word = look(/\/?[a-z]+/y, { text: spot.text, at: spot.statementAt })?.[0];
  unclosed(
    spot,
    spot,
    `Unclosed string${word ? ` in \`${word}\`` : ''}: the closing quote is missing`,
    spot.quote === '"'
      ? 'a text in double quotes ends on its line; longer texts stand in backticks'
      : "a quote that belongs to the text is written `\\'`",
  );
}

export function unclosedTemplate(spot: ErrorContext & { readonly opener: number; readonly end: string }): never {
  if (spot.text.startsWith('/end', spot.at)) {
    // A `/for` behind the opening mark does not begin its line.
    const isBehindMark = /(?:`|::)[ \t]*\/for\b/.test(spot.text.slice(spot.statementAt, spot.at));
    fail(spot.statementAt, '`/end` without `/for`', isBehindMark ? '`/for` begins a line of its own: end the line before it' : undefined);
  }
  const closing = spot.end === '`' ? 'a closing backtick' : `\`${spot.end}\``;
  unclosed(spot, spot, `Unclosed template: expected ${closing} before the end of the file`);
}

export function strayEnd(spot: ErrorContext): never {
  fail(spot.at, '`/end` without `/for`');
}

/** A line of a template that begins with a slash: only `/for` and `/end` mean something. */
export function templateLine(spot: ErrorContext): false {
  if (spot.at > 0 && spot.text[spot.at - 1] !== '\n') return false;
  if (look(/\/(?:if|else)(?![\w-])[ \t]*(?:[@!(]|\r?$|\n)/y, spot))
    unclosed(
      spot,
      { statementAt: spot.statementAt, opener: spot.at },
      'There is no `/if` in templates, only `/for … /end`',
      'use `@name?` or a conditional part, or build the text before',
    );
  if (look(/\/for\s+@/y, spot))
    unclosed(
      spot,
      { statementAt: spot.statementAt, opener: spot.at },
      'A `/for` line is not complete, or its `/end` is missing',
      'write `/for @item in @list`, the body, and `/end` at the start of a line',
    );
  return false;
}

export function args(original: ErrorContext): false {
  const spot = pastSpace(original);
  if (commentIn(spot, 'a list of arguments')) return false;
  if (unclosedHere(spot)) unclosedBracket(spot, 'Unclosed list of arguments: expected `)`');
  if (look(/[A-Za-z_][\w-]*\s*:(?!:)/y, spot))
    fail(spot.at, 'There are no named arguments', 'pass the values in the order of the parameters');
  return separator(spot, ')', 'arguments');
}

export function parenthesis(original: ErrorContext): false {
  const spot = pastSpace(original);
  if (unclosedHere(spot)) unclosedBracket(spot, 'Unclosed parenthesis: expected `)`');
  if (look(/,/y, spot)) fail(spot.at, 'A comma in parentheses', 'a list stands in square brackets: `[a, b]`');
  otherOperator(spot);
  return false;
}

/** Behind a reference: a bracket that is an index but for an operator in it. */
export function index(spot: ErrorContext): false {
  const before = look(/(\[\s*(?:@[A-Za-z_][\w.-]*|-?\d+)\s*)[-+*/%]\s*[@\d(][^\]\n]*\]/y, spot)?.[1];
  if (before)
    fail(
      spot.at + before.length,
      'An index is a number, a text or a variable, not an expression',
      'bind it first, as in `let @i = @n + 1`',
    );
  return false;
}

export function array(original: ErrorContext): false {
  const spot = pastSpace(original);
  if (commentIn(spot, 'an array')) return false;
  if (look(/\.\.\./y, spot)) fail(spot.at, 'There is no spread in arrays', 'write `@list.concat([…])`');
  if (unclosedHere(spot)) unclosedBracket(spot, 'Unclosed array: expected `]`');
  return separator(spot, ']', 'elements of an array');
}

export function object(original: ErrorContext): false {
  const spot = pastSpace(original);
  if (commentIn(spot, 'an object')) return false;
  if (look(/@[A-Za-z_]/y, spot)) {
    if (startsEntry(spot)) fail(spot.at, 'An entry of an object needs a key', 'write `key: @value`, or `...@object` to copy all entries');
  }
  if (look(/\d+\s*:/y, spot)) fail(spot.at, 'A key of an object is a name or a quoted text', 'put the number in quotes');
  if (look(/\[[^\]\n]*\]\s*:/y, spot)) fail(spot.at, 'There are no computed keys');
  if (look(/\.\.\./y, spot) && startsEntry(spot)) fail(spot.at, 'Only a reference can be spread (`...@object`)');
  if (unclosedHere(spot)) unclosedBracket(spot, 'Unclosed object: expected `}`');
  return separator(spot, '}', 'entries of an object');
}

/** Behind `...`: only a name with fields and indexes. */
export function spreadCall({ name, steps }: Reference): true {
  const call = steps.find((step) => step.kind === 'apply' || step.kind === 'method');
  if (call) fail(call.at, `Only a variable can be spread, not the result of a call of \`@${name}\``, 'bind the result to a variable first');
  return true;
}

export function options(original: ErrorContext): false {
  const spot = pastSpace(original);
  if (unclosedHere(spot)) unclosedBracket(spot, 'Unclosed options: expected `}`');
  return separator(spot, '}', 'options');
}

function startsEntry({ text, at }: ErrorContext): boolean {
  return /[{,]\s*$/.test(text.slice(Math.max(0, at - 80), at));
}

/** Is this the end of the file, or plainly the next statement, so that a bracket before it was never closed? */
function unclosedHere(spot: ErrorContext): boolean {
  if (atEnd(spot)) return true;
  const word = look(/([a-z]+)(?![\w-])(?!\s*\??:)/y, spot)?.[1];
  return word !== undefined && words.has(word) && /(?:^|\n)[ \t]*\/?$/.test(spot.text.slice(0, spot.at));
}

function commentIn(spot: ErrorContext, where: string): boolean {
  const { text, at } = spot;
  if (look(/>>|<<(?=\s)/y, spot))
    fail(at, `Comments are not allowed inside ${where}`, 'move the comment before the statement or behind it');
  if (look(/\/\/|\/\*|#\s/y, spot)) fail(at, `\`${text[at]}\` begins no comment, and comments are not allowed inside ${where}`);
  return false;
}

/** Where a comma or the closing bracket is due. Nothing is said when the parser came further inside of the next item. */
export function separator(spot: ErrorContext, close: string, what: string): false {
  const { text, at } = spot;
  if (spot.furthest > at && !look(/["'`@\d{[]/y, spot)) return false;
  if (startsEntry(spot) || /[[(]\s*$/.test(text.slice(Math.max(0, at - 80), at))) {
    numberSlip(spot);
    return spot.furthest > at || close === '}' ? false : value(spot);
  }
  otherOperator(spot);
  if (look(/[-+*/%]/y, spot)) fail(at, `\`${text[at]}\` needs a blank on both sides`);
  if (look(/\.[A-Za-z]/y, spot)) fail(at, 'A field or method cannot follow this value directly', 'bind the value to a variable first');
  if (look(/["'`@\d{[A-Za-z]/y, spot)) fail(at, `Two ${what} without a comma between them`, `expected \`,\` or \`${close}\``);
  fail(at, `Expected \`,\` or \`${close}\`, found ${describe(text, at)}`);
}

export function load(original: ErrorContext): never {
  const spot = pastBlanks(original);
  if (look(/\{/y, spot)) fail(spot.at, 'A path cannot contain `{`', 'write several loads instead of a brace pattern');
  if (look(/>/y, spot)) fail(spot.at, 'Expected a path between `<` and `>`', 'a file is written `<path>`');
  if (look(/#\s*>/y, spot)) fail(spot.at, 'Expected the title of a section behind `#`', '`# ??` lists the titles of a file');
  fail(spot.statementAt, 'Unclosed file reference: expected `>`', 'a file is written `<path>`, on one line');
}
