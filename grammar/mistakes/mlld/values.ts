/** Explains mistakes in literals, strings, templates, arguments and file references. */
import type { Reference } from '../../ast.js';
import { foreignValue } from './foreign.js';
import {
  words,
  valueWord,
  atEnd,
  unclosedBracket,
  closedByAnother,
  otherOperator,
  lineOf,
  fail,
  look,
  pastBlanks,
  describe,
  pastSpace,
  type ErrorContext,
} from './error-context.js';

/** Called at something else where a value is expected. */
export function value(context: ErrorContext): false {
  const { text, at } = context;
  if (look(/['"`@<([{!]|::/y, context)) return broken(context);
  numberMistake(context);
  const word = look(/[A-Za-z_][\w-]*/y, context)?.[0];
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
    fail(context.statementAt, 'Expected a value after `=`');
  }
  if (word === 'exe' || word === 'checkpoint' || word === 'hook' || word === 'guard') fail(at, `\`${word}\` is a statement, not a value`);
  if (word && valueWord.test(word)) return false;
  if (word === 'if') fail(at, '`if` is a statement, not a value', 'write `CONDITION ? A : B`, or `when [ CONDITION => A; * => B ]`');
  foreignValue(context);
  if (word === 'not') fail(at, '`not` is not an operator', 'write `!`');
  if (word === 'require') fail(at, '`require` is not a value', 'write `import { @name } from "./file.mld"`');
  if (word === 'function' || word === 'lambda') fail(at, 'There are no functions without a name', 'write `exe @name(a, b) = …`');
  if (word && look(/\w+\s*=>/y, context) && /[(,]\s*$/.test(text.slice(0, at)))
    fail(at, 'There are no functions without a name', 'write `for @item in @list => …`, or pass an `exe`');
  if (word === 'await') fail(at, '`await` is not a value', 'leave the word out: a call is waited for');
  if (word === 'range' && look(/range\s*\(/y, context))
    fail(at, 'There are no ranges', 'write the numbers as a list, or make the list in `js { … }`');
  if (word && look(/\w+\(/y, context)) fail(at, `\`${word}\` is not a value`, `a function is called with an at sign: \`@${word}(…)\``);
  if (word && look(/[A-Za-z]{1,2}["'`]/y, context))
    fail(at, `A text has no prefix (\`${word}\`)`, 'leave it out: names with an at sign are filled in');
  if (word && look(/[A-Za-z_][\w-]*[ \t]+(?:-|["'@])/y, context))
    fail(at, `\`${word}\` is not a value`, `a command is written \`cmd { ${word} … }\`, a text in quotes`);
  if (word) fail(at, `\`${word}\` is not a value`, `write text in quotes ("${word}") or a variable with an at sign (@${word})`);
  if (look(/[\u2018-\u201F\u00AB\u00BB]/y, context))
    fail(at, `\`${text[at]}\` is not a quote of a text`, 'a text is written in straight quotes: `"…"`');
  const dollar = look(/\$([A-Za-z_][\w-]*)/y, context)?.[1];
  if (dollar) fail(at, `\`$${dollar}\` is not a value: a name begins with an at sign`, `write \`@${dollar}\``);
  if (look(/\d+\.\.\.?\d*/y, context)) fail(at, 'There are no ranges', 'write the numbers as a list, or make the list in `js { … }`');
  if (text[at] === '>' && text[at - 1] === '=') fail(at - 1, 'Expected `=`, found `=>`');
  if (look(/>>|<<|#/y, context)) fail(at, 'Expected a value, found a comment');
  fail(at, `Expected a value, found ${describe(text, at)}`);
}

function broken(context: ErrorContext): false {
  if (look(/@[^A-Za-z_]/y, context)) fail(context.at, 'Expected a name after `@`: a name must start with a letter or underscore');
  return false;
}

function numberMistake(context: ErrorContext): void {
  const { at } = context;
  if (look(/\.\d/y, context)) fail(at, 'A number needs a digit before its dot', 'write `0.5`');
  if (look(/\+[\d@]/y, context)) fail(at, 'There is no unary plus', 'leave the `+` out');
  if (look(/-[@(]/y, context)) fail(at, 'There is no unary minus before a reference', 'write `0 - @x`');
}

/** Called behind the digits of a number. */
export function number({ text, at }: ErrorContext): never {
  let from = at;
  while (from > 0 && /[\d.-]/.test(text[from - 1] as string)) from--;
  const written = look(/-?[\d.]*[\w.]*/y, { text, at: from })?.[0] ?? '';
  const hints: [RegExp, string][] = [
    [/^-?\d+\.?\d*[eE]/, 'numbers have no exponent: write all digits'],
    [/^0[xX]/, 'numbers are decimal'],
    [/^-?\d+\.$/, 'leave the dot out or write digits after it'],
    [/^\d+(?:\.\d+)?(?:ms|[smhdw])$/, 'a duration is written in quotes here'],
    [/_/, 'numbers have no separators'],
    [/\.[A-Za-z_]/, 'bind the number to a variable before you use a method'],
  ];
  const hint = hints.find(([form]) => form.test(written))?.[1];
  fail(from, `\`${written}\` is not a number`, hint);
}

export function unclosedString(context: ErrorContext & { readonly opener: number; readonly quote: string }): never {
  const word = look(/\/?[a-z]+/y, { text: context.text, at: context.statementAt })?.[0];
  fail(
    context.opener,
    `Unclosed string${word ? ` in \`${word}\`` : ''}: the closing quote is missing`,
    context.quote === '"'
      ? 'a text in double quotes ends on its line; longer texts are written in backticks'
      : "a quote that belongs to the text is written `\\'`",
  );
}

export function unclosedTemplate(context: ErrorContext & { readonly opener: number; readonly end: string }): never {
  if (context.text.startsWith('/end', context.at)) {
    // A `/for` behind the opening mark does not begin its line.
    const isBehindMark = /(?:`|::)[ \t]*\/for\b/.test(context.text.slice(context.statementAt, context.at));
    fail(
      context.statementAt,
      '`/end` without `/for`',
      isBehindMark ? '`/for` begins a line of its own: end the line before it' : undefined,
    );
  }
  const closing = context.end === '`' ? 'a closing backtick' : `\`${context.end}\``;
  fail(context.opener, `Unclosed template: expected ${closing} before the end of the file`);
}

export function strayEnd(context: ErrorContext): never {
  fail(context.at, '`/end` without `/for`');
}

/** Reports a line of a template at the statement, whose first line says what the text is for. */
function failInTemplate({ text, at, statementAt }: ErrorContext, message: string, hint: string): never {
  const isInner = text.slice(statementAt, at).includes('\n');
  fail(isInner ? statementAt : at, message, isInner ? `it begins in line ${lineOf(text, at)}; ${hint}` : hint);
}

/** Called at a line of a template that begins with a slash: only `/for` and `/end` have a meaning. */
export function templateLine(context: ErrorContext): false {
  if (context.at > 0 && context.text[context.at - 1] !== '\n') return false;
  if (look(/\/(?:if|else)(?![\w-])[ \t]*(?:[@!(]|\r?$|\n)/y, context))
    failInTemplate(
      context,
      'There is no `/if` in templates, only `/for … /end`',
      'use `@name?` or a conditional part, or build the text before',
    );
  if (look(/\/for\s+@/y, context))
    failInTemplate(
      context,
      'A `/for` line is not complete, or its `/end` is missing',
      'write `/for @item in @list`, the body, and `/end` at the start of a line',
    );
  return false;
}

export function args(original: ErrorContext): false {
  const context = pastSpace(original);
  if (commentIn(context, 'a list of arguments')) return false;
  unclosed(context, 'Unclosed list of arguments: expected `)`', ')');
  if (look(/[A-Za-z_][\w-]*\s*:(?!:)/y, context))
    fail(context.at, 'There are no named arguments', 'pass the values in the order of the parameters');
  return separator(context, ')', 'arguments');
}

export function parenthesis(original: ErrorContext): false {
  const context = pastSpace(original);
  unclosed(context, 'Unclosed parenthesis: expected `)`', ')');
  if (look(/,/y, context)) fail(context.at, 'A comma in parentheses', 'a list is written in square brackets: `[a, b]`');
  otherOperator(context);
  return false;
}

/** Refuses, behind a reference, a bracket that would be an index but for an operator in it. */
export function index(context: ErrorContext): false {
  const before = look(/(\[\s*(?:@[A-Za-z_][\w.-]*|-?\d+)\s*)[-+*/%]\s*[@\d(][^\]\n]*\]/y, context)?.[1];
  if (before)
    fail(
      context.at + before.length,
      'An index is a number, a text or a variable, not an expression',
      'bind it first, as in `let @i = @n + 1`',
    );
  return false;
}

export function array(original: ErrorContext): false {
  const context = pastSpace(original);
  if (commentIn(context, 'an array')) return false;
  if (look(/\.\.\./y, context)) fail(context.at, 'There is no spread in arrays', 'write `@list.concat([…])`');
  unclosed(context, 'Unclosed array: expected `]`', ']');
  return separator(context, ']', 'elements of an array');
}

export function object(original: ErrorContext): false {
  const context = pastSpace(original);
  if (commentIn(context, 'an object')) return false;
  if (look(/@[A-Za-z_]/y, context)) {
    if (startsEntry(context))
      fail(context.at, 'An entry of an object needs a key', 'write `key: @value`, or `...@object` to copy all entries');
  }
  if (look(/\d+\s*:/y, context)) fail(context.at, 'A key of an object is a name or a quoted text', 'put the number in quotes');
  if (look(/\[[^\]\n]*\]\s*:/y, context)) fail(context.at, 'There are no computed keys');
  if (look(/\.\.\./y, context) && startsEntry(context)) fail(context.at, 'Only a reference can be spread (`...@object`)');
  unclosed(context, 'Unclosed object: expected `}`', '}');
  return separator(context, '}', 'entries of an object');
}

/** Called behind `...`, where only a name with fields and indexes is allowed. */
export function spreadCall({ name, steps }: Reference): true {
  const call = steps.find((step) => step.kind === 'apply' || step.kind === 'method');
  if (call) fail(call.at, `Only a variable can be spread, not the result of a call of \`@${name}\``, 'bind the result to a variable first');
  return true;
}

export function options(original: ErrorContext): false {
  const context = pastSpace(original);
  unclosed(context, 'Unclosed options: expected `}`', '}');
  return separator(context, '}', 'options');
}

function startsEntry({ text, at }: ErrorContext): boolean {
  return /[{,]\s*$/.test(text.slice(Math.max(0, at - 80), at));
}

/** Reports the bracket at the end of the file, at the next statement, and where another kind of bracket closes what is around it. */
function unclosed(context: ErrorContext, message: string, closer: string): void {
  if (unclosedHere(context)) unclosedBracket(context, message);
  if (context.text[context.at] !== closer) closedByAnother(context, message);
}

/** True at the end of the file or at the next statement: then a bracket before it was not closed. */
function unclosedHere(context: ErrorContext): boolean {
  if (atEnd(context)) return true;
  const word = look(/([a-z]+)(?![\w-])(?!\s*\??:)/y, context)?.[1];
  return word !== undefined && words.has(word) && /(?:^|\n)[ \t]*\/?$/.test(context.text.slice(0, context.at));
}

function commentIn(context: ErrorContext, where: string): boolean {
  const { text, at } = context;
  if (look(/>>|<<(?=\s)/y, context))
    fail(at, `Comments are not allowed inside ${where}`, 'move the comment before the statement or after it');
  if (look(/\/\/|\/\*|#\s/y, context)) fail(at, `\`${text[at]}\` does not begin a comment, and comments are not allowed inside ${where}`);
  return false;
}

/** Called where a comma or the closing bracket is due. Reports nothing when the parser reached further inside the next item. */
export function separator(context: ErrorContext, close: string, what: string): false {
  const { text, at } = context;
  if (context.furthest > at && !look(/["'`@\d{[]/y, context)) return false;
  if (startsEntry(context) || /[[(]\s*$/.test(text.slice(Math.max(0, at - 80), at))) {
    numberMistake(context);
    return context.furthest > at || close === '}' ? false : value(context);
  }
  otherOperator(context);
  if (look(/[-+*/%]/y, context)) fail(at, `\`${text[at]}\` needs a blank on both sides`);
  if (look(/\.[A-Za-z]/y, context)) fail(at, 'A field or method cannot follow this value directly', 'bind the value to a variable first');
  if (look(/["'`@\d{[A-Za-z]/y, context)) fail(at, `Two ${what} without a comma between them`, `expected \`,\` or \`${close}\``);
  fail(at, `Expected \`,\` or \`${close}\`, found ${describe(text, at)}`);
}

export function load(original: ErrorContext): never {
  const context = pastBlanks(original);
  if (look(/\{/y, context) && /\s/.test(context.text.charAt(context.at - 1)))
    fail(
      context.at,
      'Selecting a part of a source file by its name is not part of this runtime',
      'load the file (`<a.ts>`) and cut it with `js`, or load a section of a Markdown file: `<a.md # Title>`',
    );
  if (look(/\{/y, context)) fail(context.at, 'A path cannot contain `{`', 'write several loads instead of a brace pattern');
  if (look(/>/y, context)) fail(context.at, 'Expected a path between `<` and `>`', 'a file is written `<path>`');
  if (look(/#\s*>/y, context)) fail(context.at, 'Expected the title of a section after `#`', '`# ??` lists the titles of a file');
  fail(context.statementAt, 'Unclosed file reference: expected `>`', 'a file is written `<path>`, on one line');
}
