/**
 * The usual mistakes, and what to say about them. A rule of the grammar that found nothing it knows asks the function
 * named after what it expected. The function looks at the source and either throws, or returns false: then the
 * parser goes on, and if nothing else fits, what it expected at the furthest point becomes the message.
 *
 * S1 A function throws only for a text that is wrong under every reading, because nothing is tried after it.
 * S2 What is not closed is reported at the statement it stands in, everything else where it stands.
 */
import type { Bail, Control, Literal, Options, Template } from '../ast.js';
import { SyntaxFailure } from '../errors.js';
import { foreignWords, statementWords, topLevelWords, transformerNames } from '../keywords.js';

export interface Spot {
  readonly text: string;
  readonly at: number;
  /** Where the innermost statement that was begun begins. */
  readonly statementAt: number;
  /** Where the statement begins that opened the innermost bracket. */
  readonly openedAt: number;
  /** The furthest offset at which something was expected and not found. */
  readonly furthest: number;
}

const words = new Set<string>(statementWords);
const foreign = new Set<string>(foreignWords);
const topLevel = new Set<string>(topLevelWords);
/** Words that may begin a value. */
const valueWord = /^(?:when|for|foreach|loop|run|cmd|sh|bash|js|javascript|node|py|python|stream|new|template|true|false|null|denied)$/;
const builtIn = new Set<string>(transformerNames);

function fail(at: number, message: string, hint?: string): never {
  throw new SyntaxFailure(message, { at, hint });
}

function look(pattern: RegExp, { text, at }: Pick<Spot, 'text' | 'at'>): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function pastBlanks(spot: Spot): Spot {
  return { ...spot, at: spot.at + (look(/[ \t\r]*/y, spot)?.[0].length ?? 0) };
}

/** What stands at a place, for messages. */
export function describe(text: string, at: number): string {
  const token = look(/[A-Za-z_][\w-]*|@[\w.-]*|\d[\w.]*|[=!<>&|+~?]+|\.\.\.|\S/y, {
    text,
    at: at + (look(/[ \t\r]*/y, { text, at })?.[0].length ?? 0),
  })?.[0];
  if (token) return `\`${token}\``;
  return /\S/.test(text.slice(at)) ? 'the end of the line' : 'the end of the file';
}

// ---------------------------------------------------------------- statements

/** Strict mode, at the beginning of a line that is no statement. */
export function statement(spot: Spot): false {
  const { text, at } = spot;
  const word = look(/\/?([A-Za-z][\w-]*)/y, spot)?.[1];
  if (word && words.has(word)) return false;
  if (look(/resume\s*:/iy, spot))
    fail(
      at,
      'A `resume:` header must be the very first line, alone on it',
      'write `resume: auto`, `resume: manual` or `resume: never` in line 1',
    );
  if (text.startsWith('//', at) || text.startsWith('/*', at)) fail(at, '`//` does not begin a comment', 'comments begin with `>>`');
  if (word && foreign.has(word)) fail(at, `\`${word}\` is not part of this runtime`);
  if (word === 'while')
    fail(at, 'There is no `while` statement', 'use `loop(LIMIT) until CONDITION [ … ]`, or the stage `VALUE | while(CAP) @f`');
  if (word === 'skip' || word === 'retry' || word === 'pass') fail(at, `\`${word}\` stands behind an arrow, not on a line of its own`);
  if (word && words.has(word.toLowerCase()))
    fail(at, `\`${word}\` is no statement: statement words are written in lower case`, `write \`${word.toLowerCase()}\``);
  if (word)
    fail(
      at,
      `Expected a statement, found \`${word}\``,
      'in strict mode every line is a statement or a comment (`>> …`); show text with `show "…"`',
    );
  const name = look(/@([A-Za-z_][\w-]*)[\w.-]*/y, spot);
  if (name && spot.furthest <= at + name[0].length + 1) bareReference(spot, name[0]);
  if (look(/@/y, spot)) return false;
  if (look(/;/y, spot)) fail(at, '`;` does not separate statements at the top level', 'put each statement on a line of its own');
  if (look(/\]/y, spot)) fail(at, '`]` without an opening `[`');
  if (look(/[^\s]/y, spot)) fail(at, `Expected a statement, found ${describe(text, at)}`);
  return false;
}

/** In a `mlld-run` fence of a Markdown file, where neither a statement nor its end stands. */
export function runFence(spot: Spot): false {
  if (spot.at >= spot.text.length)
    fail(spot.text.lastIndexOf('```mlld-run'), 'Unclosed `mlld-run` fence: expected three backticks on a line of their own');
  return statement(spot);
}

function bareReference(spot: Spot, name: string): never {
  const behind = pastBlanks({ ...spot, at: spot.at + name.length });
  if (look(/=(?![=>~])/y, behind)) assignment(spot);
  fail(spot.at, `\`${name}\` alone is no statement`, `show it with \`show ${name}\`, or call it: \`${name}()\``);
}

/** Behind a complete statement of the top level. */
export function afterStatement(original: Spot): false {
  const spot = pastBlanks(original);
  const { text, at } = spot;
  if (look(/;/y, spot))
    fail(at, '`;` does not separate statements at the top level', 'put each statement on a line of its own; inside `[ … ]` a `;` is fine');
  if (look(/\/\//y, spot)) fail(at, '`//` does not begin a comment', 'comments begin with `>>`');
  if (look(/[-+*/%]/y, original)) fail(at, `\`${text[at]}\` needs a blank on both sides`, 'write `@a + 1`');
  if (spot.furthest > at) return false;
  if (look(/\.[A-Za-z_]/y, original)) fail(at, 'A field or method cannot follow this value directly', 'bind the value to a variable first');
  if (look(/=(?![=>~])/y, spot)) fail(at, 'Unexpected `=`', 'compare with `==`');
  if (look(/,/y, spot)) fail(at, 'Unexpected comma behind a statement');
  const word = look(/[A-Za-z]+/y, spot)?.[0];
  if (word && words.has(word)) fail(at, `A second statement (\`${word}\`) on the same line`, 'put each statement on a line of its own');
  fail(at, `Expected the end of the statement, found ${describe(text, at)}`, 'a comment behind a statement begins with `>>`');
}

export function header(spot: Spot): never {
  const line = look(/[^\n]*/y, spot)?.[0].trim() ?? '';
  fail(
    spot.at,
    `\`${line}\` is no valid header`,
    'the first line may be `resume: auto`, `resume: manual` or `resume: never`, with nothing behind it',
  );
}

// ---------------------------------------------------------------- bindings

export function variable(spot: Spot): false {
  return binding(spot, 'var');
}

function binding(spot: Spot, word: 'var' | 'let'): false {
  const { at, statementAt } = spot;
  const labels = '(?:[A-Za-z][\\w:-]*(?:\\s*,\\s*[A-Za-z][\\w:-]*)*\\s*)?';
  const find = (pattern: string) => look(new RegExp(`${word}(?![\\w-])\\s*${pattern}`, 'y'), spot);
  const bare = find('()([A-Za-z_][\\w-]*)\\s*=');
  if (bare)
    fail(
      at + bare[0].indexOf(bare[2] as string, word.length),
      `Missing \`@\` before the name in \`${word} ${bare[2]}\``,
      `write \`${word} @${bare[2]} = …\``,
    );
  const digit = find(`${labels}@([^\\sA-Za-z_=][^\\s=]*)`);
  if (digit) fail(at + digit[0].length - (digit[1] as string).length, `\`@${digit[1]}\`: a name must start with a letter or underscore`);
  if (find(`${labels}@\\s*(?:=|$)`) || find(`${labels}@\\s`))
    fail(statementAt, `Expected a name behind \`@\` in \`${word}\``, `write \`${word} @name = …\``);
  const field = find(`${labels}@([A-Za-z_][\\w-]*[.[][^=\\s]*)\\s*\\+?=`);
  if (field) fail(at, `\`${word}\` needs a whole variable, not \`@${field[1]}\``);
  const equals = find(`${labels}@([A-Za-z_][\\w-]*)\\??`);
  if (equals && !look(/\s*(?:=(?!=)|\+=)/y, { ...spot, at: at + equals[0].length })) {
    fail(at + equals[0].length, `Expected \`=\` after \`@${equals[1]}\``, `write \`${word} @${equals[1]} = …\``);
  }
  const several = find('([A-Za-z][\\w:-]*(?:\\s*,\\s*[A-Za-z][\\w:-]*)*)\\s+([A-Za-z][\\w:-]*)\\s*[@,]');
  if (several)
    fail(at, `Two labels of a \`${word}\` need a comma between them`, `write \`${word} ${several[1]}, ${several[2]} @name = …\``);
  const badLabel = find('([^\\sA-Za-z@=][^\\s@=]*)\\s*@');
  if (badLabel) fail(at, `\`${badLabel[1]}\` is no label of a \`${word}\`: a label begins with a letter`);
  if (!find('\\S')) fail(at, `Expected a name behind \`${word}\``, `write \`${word} @name = …\``);
  return false;
}

/** `let` at the top level of a file. */
export function letAtTop(spot: Spot): never {
  labelledLet(spot);
  const name = look(/let\s*@([\w-]+)/y, spot)?.[1] ?? 'name';
  fail(spot.at, '`let` stands only inside of a block', `at the top level use \`var @${name} = …\``);
}

export function letStatement(spot: Spot): false {
  labelledLet(spot);
  if (look(/let\s*@[A-Za-z_][\w-]*[.[][^=\n]*\+=/y, spot)) fieldAppend(spot);
  return binding(spot, 'let');
}

function labelledLet(spot: Spot): void {
  const labels = look(/let\s+([A-Za-z][\w:-]*(?:\s*,\s*[A-Za-z][\w:-]*)*)\s*@/y, spot)?.[1];
  if (!labels) return;
  fail(
    spot.at,
    `\`let\` takes no labels (\`${labels}\`): labels belong to \`var\` and \`exe\``,
    `declare it with \`var ${labels} @name = …\`, or wrap the call in an \`exe ${labels}\``,
  );
}

function fieldAppend(spot: Spot): never {
  fail(spot.at, '`+=` changes whole variables, not fields', 'build the new object with `{ ...@object, field: value }`');
}

export function topAssignment(spot: Spot): true {
  const name = look(/(@[A-Za-z_][\w-]*)\s*\+=/y, spot)?.[1];
  if (name) fail(spot.at, `\`${name} += …\` stands only inside of a block`);
  return true;
}

export function assignment(spot: Spot): never {
  const name = look(/@[A-Za-z_][\w.-]*/y, spot)?.[0] ?? '@name';
  fail(
    spot.at,
    `\`${name} = …\` is no statement: there is no plain assignment`,
    `declare a new name with \`var ${name} = …\` or \`let ${name} = …\`, or change it with \`+=\``,
  );
}

export function executable(spot: Spot): false {
  const bare = look(/exe\s+(?:[A-Za-z][\w:,\s-]*\s)?([A-Za-z_][\w-]*)\s*(?:\([^)\n]*\)\s*=|=\s*[^{\s])/y, spot);
  if (bare)
    fail(
      spot.text.indexOf(bare[1] as string, spot.at + 3),
      `Missing \`@\` before the name \`${bare[1]}\``,
      `write \`exe @${bare[1]}(…) = …\``,
    );
  const digit = look(/exe\s+(?:[A-Za-z][\w:,\s-]*)?@([^\sA-Za-z_][^\s(=]*)/y, spot);
  if (digit) fail(spot.at, `\`@${digit[1]}\`: a name must start with a letter or underscore`);
  const equals = look(/exe\s+(?:[A-Za-z][\w:,\s-]*)?@([A-Za-z_][\w-]*)\s*(?:\([^)]*\))?\s*(?!=)[^\s(=]/y, spot);
  if (equals) fail(spot.at + equals[0].length - 1, `Expected \`=\` after \`@${equals[1]}(…)\``, `write \`exe @${equals[1]}(…) = BODY\``);
  return false;
}

export function params(original: Spot): false {
  const spot = pastBlanks(original);
  if (look(/=/y, spot)) fail(spot.at, 'Parameters have no default values', 'use `@name ?? "default"` in the body');
  fail(spot.at, `Expected \`,\` or \`)\` in the list of parameters, found ${describe(spot.text, spot.at)}`);
}

export function bareBody(spot: Spot): never {
  fail(
    spot.at,
    'A body in bare braces is neither a command nor an object',
    'write `cmd { … }` for a command, `sh { … }` for a shell script, `{ key: value }` for an object',
  );
}

export function runBody(spot: Spot): false {
  const language = look(/run\s+(sh|bash|js|javascript|node|py|python)(?![\w-])/y, spot)?.[1];
  if (language) fail(spot.at, `\`run ${language} { … }\` is not a body`, `write \`${language} { … }\` without \`run\``);
  return false;
}

// ---------------------------------------------------------------- values

/** Where a value has to stand and something else does. */
export function value(spot: Spot): false {
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
  if (word) fail(at, `\`${word}\` is not a value`, `write text in quotes ("${word}") or a variable with an at sign (@${word})`);
  if (look(/>>|<<|#/y, spot)) fail(at, 'A comment stands where a value is expected');
  fail(at, `Expected a value, found ${describe(text, at)}`);
}

function broken(spot: Spot): false {
  if (look(/@[^A-Za-z_]/y, spot)) fail(spot.at, 'Expected a name behind `@`: a name must start with a letter or underscore');
  return false;
}

function numberSlip(spot: Spot): void {
  const { at } = spot;
  if (look(/\.\d/y, spot)) fail(at, 'A number needs a digit before its dot', 'write `0.5`');
  if (look(/\+[\d@]/y, spot)) fail(at, 'There is no unary plus', 'leave the `+` out');
  if (look(/-[@(]/y, spot)) fail(at, 'There is no unary minus before a reference', 'write `0 - @x`');
}

/** Behind the digits of a number. */
export function number({ text, at }: Spot): never {
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

export function unclosedString({ statementAt, text }: Spot): never {
  const word = look(/\/?[a-z]+/y, { text, at: statementAt })?.[0];
  fail(
    statementAt,
    `Unclosed string${word ? ` in \`${word}\`` : ''}: the closing quote is missing`,
    'a text in double quotes ends on its line; longer texts stand in backticks',
  );
}

export function unclosedTemplate({ text, at, statementAt, end }: Spot & { readonly end: string }): never {
  if (text.startsWith('/end', at)) fail(statementAt, '`/end` without `/for`');
  fail(statementAt, `Unclosed template: expected ${end === '`' ? 'a closing backtick' : `\`${end}\``} before the end of the file`);
}

export function strayEnd(spot: Spot): never {
  fail(spot.at, '`/end` without `/for`');
}

/** A line of a template that begins with a slash: only `/for` and `/end` mean something. */
export function templateLine(spot: Spot): false {
  if (spot.at > 0 && spot.text[spot.at - 1] !== '\n') return false;
  if (look(/\/(?:if|else)(?![\w-])[ \t]*(?:[@!(]|\r?$|\n)/y, spot))
    fail(
      spot.statementAt,
      'There is no `/if` in templates, only `/for … /end`',
      'use `@name?` or a conditional part, or build the text before',
    );
  if (look(/\/for\s+@/y, spot))
    fail(
      spot.statementAt,
      'A `/for` line is not complete, or its `/end` is missing',
      'write `/for @item in @list`, the body, and `/end` at the start of a line',
    );
  return false;
}

export function args(original: Spot): false {
  const spot = pastSpace(original);
  if (commentIn(spot, 'a list of arguments')) return false;
  if (spot.at >= spot.text.length) fail(spot.statementAt, 'Unclosed list of arguments: expected `)`');
  return separator(spot, ')', 'arguments');
}

export function parenthesis(original: Spot): false {
  const spot = pastSpace(original);
  if (spot.at >= spot.text.length) fail(spot.statementAt, 'Unclosed parenthesis: expected `)`');
  return false;
}

export function array(original: Spot): false {
  const spot = pastSpace(original);
  if (commentIn(spot, 'an array')) return false;
  if (look(/\.\.\./y, spot)) fail(spot.at, 'There is no spread in arrays', 'write `@list.concat([…])`');
  if (unclosedHere(spot)) fail(spot.statementAt, 'Unclosed array: expected `]`');
  return separator(spot, ']', 'elements of an array');
}

export function object(original: Spot): false {
  const spot = pastSpace(original);
  if (commentIn(spot, 'an object')) return false;
  if (look(/@[A-Za-z_]/y, spot)) {
    if (startsEntry(spot)) fail(spot.at, 'An entry of an object needs a key', 'write `key: @value`, or `...@object` to copy all entries');
  }
  if (look(/\d+\s*:/y, spot)) fail(spot.at, 'A key of an object is a name or a quoted text', 'put the number in quotes');
  if (look(/\[[^\]\n]*\]\s*:/y, spot)) fail(spot.at, 'There are no computed keys');
  if (look(/\.\.\./y, spot) && startsEntry(spot)) fail(spot.at, 'Only a reference can be spread (`...@object`)');
  if (unclosedHere(spot)) fail(spot.statementAt, 'Unclosed object: expected `}`');
  return separator(spot, '}', 'entries of an object');
}

export function options(original: Spot): false {
  const spot = pastSpace(original);
  if (spot.at >= spot.text.length) fail(spot.statementAt, 'Unclosed options: expected `}`');
  return separator(spot, '}', 'options');
}

function startsEntry({ text, at }: Spot): boolean {
  return /[{,]\s*$/.test(text.slice(Math.max(0, at - 80), at));
}

/** Is this the end of the file, or plainly the next statement, so that a bracket before it was never closed? */
function unclosedHere(spot: Spot): boolean {
  if (spot.at >= spot.text.length) return true;
  const word = look(/([a-z]+)(?![\w-])(?!\s*\??:)/y, spot)?.[1];
  return word !== undefined && words.has(word) && /(?:^|\n)[ \t]*\/?$/.test(spot.text.slice(0, spot.at));
}

function commentIn(spot: Spot, where: string): boolean {
  const { text, at } = spot;
  if (look(/>>|<<(?=\s)/y, spot))
    fail(at, `Comments are not allowed inside ${where}`, 'move the comment before the statement or behind it');
  if (look(/\/\/|\/\*|#\s/y, spot)) fail(at, `\`${text[at]}\` begins no comment, and comments are not allowed inside ${where}`);
  return false;
}

/** Where a comma or the closing bracket is due. Nothing is said when the parser came further inside of the next item. */
function separator(spot: Spot, close: string, what: string): false {
  const { text, at } = spot;
  if (spot.furthest > at && !look(/["'`@\d{[]/y, spot)) return false;
  if (startsEntry(spot) || /[[(]\s*$/.test(text.slice(Math.max(0, at - 80), at))) {
    numberSlip(spot);
    return spot.furthest > at || close === '}' ? false : value(spot);
  }
  if (look(/[-+*/%]/y, spot)) fail(at, `\`${text[at]}\` needs a blank on both sides`);
  if (look(/\.[A-Za-z]/y, spot)) fail(at, 'A field or method cannot follow this value directly', 'bind the value to a variable first');
  if (look(/["'`@\d{[A-Za-z]/y, spot)) fail(at, `Two ${what} without a comma between them`, `expected \`,\` or \`${close}\``);
  fail(at, `Expected \`,\` or \`${close}\`, found ${describe(text, at)}`);
}

function pastSpace(spot: Spot): Spot {
  return { ...spot, at: spot.at + (look(/[ \t\r\n]*/y, spot)?.[0].length ?? 0) };
}

export function load(original: Spot): never {
  const spot = pastBlanks(original);
  if (look(/\{/y, spot)) fail(spot.at, 'A path cannot contain `{`', 'write several loads instead of a brace pattern');
  fail(spot.statementAt, 'Unclosed file reference: expected `>`', 'a file is written `<path>`, on one line');
}

// ---------------------------------------------------------------- pipelines and code

export function stage(spot: Spot): false {
  const word = look(/([A-Za-z_][\w-]*)(?:\.[\w-]+)*/y, spot)?.[0];
  if (!word) {
    if (look(/[[{@]/y, spot)) return false;
    fail(spot.at, `Expected a stage behind \`|\`, found ${describe(spot.text, spot.at)}`, 'a stage is a function, as in `| @trim`');
  }
  if (/^(?:output|append|while|show|log|cmd|sh|bash|js|javascript|node|py|python|data)$/.test(word)) {
    if (word === 'output' && spot.furthest <= spot.at + word.length + 1)
      fail(spot.at, '`output` as a stage needs a target', 'write `| output to "file"`');
    return false;
  }
  fail(
    spot.at,
    `A stage needs an at sign: \`@${word}\``,
    builtIn.has(word.toLowerCase()) ? `write \`| @${word}\`` : `write \`| @${word}\` to call the function \`@${word}\``,
  );
}

export function whileCap(spot: Spot): never {
  fail(spot.at, '`while` needs a cap', 'write `| while(10) @step`');
}

export function whileCall(spot: Spot): never {
  fail(spot.at, '`while(CAP)` needs a function behind it', 'write `| while(10) @step`');
}

export function unclosedCode({ text, at, statementAt }: Spot): never {
  const word = look(/\/?[a-z]+/y, { text, at: statementAt })?.[0];
  fail(
    statementAt,
    `Unclosed code block${word ? ` in \`${word}\`` : ''}: expected \`}\``,
    at < text.length ? 'braces and quotes in the code must balance' : undefined,
  );
}

/** An operator of the shell outside quotes in a `cmd` body. `rest`: the text from the operator on, if it is not the source. */
export function shellOperator(spot: Spot, rest?: string): false {
  const operator = /^(?:&&|\|\||>>|<<|[;&<>])/.exec(rest ?? spot.text.slice(spot.at, spot.at + 2))?.[0];
  if (!operator) return false;
  fail(spot.at, `\`${operator}\` is not allowed in a \`cmd\` body, which is one command line`, 'use `sh { … }` for shell scripts');
}

// ---------------------------------------------------------------- blocks and control

/** Inside a block, where neither a statement nor the closing bracket stands. */
export function block(original: Spot): false {
  const spot = pastSpace(original);
  const { text, at } = spot;
  if (at >= text.length) fail(spot.openedAt, 'Unclosed block: expected `]`');
  if (look(/,/y, spot)) fail(at, 'A comma does not separate statements', 'put each statement on a line of its own, or a `;` between them');
  const slash = look(/\/([a-z]+)/y, spot);
  if (slash) fail(at, `\`${slash[0]}\`: inside brackets statements carry no slash`, `write \`${slash[1]}\``);
  if (text.startsWith('//', at)) fail(at, '`//` does not begin a comment', 'comments begin with `>>`');
  if (look(/\]/y, spot)) {
    if (/\[\s*$/.test(text.slice(Math.max(0, at - 200), at))) fail(at, 'An empty block', 'a block needs at least one statement');
    return false;
  }
  const word = look(/[A-Za-z][\w-]*/y, spot)?.[0];
  if (word && topLevel.has(word)) fail(at, `\`${word}\` stands only at the top level of a file, not inside of a block`);
  if (word && foreign.has(word)) fail(at, `\`${word}\` is not part of this runtime`);
  if (word === 'while')
    fail(at, 'There is no `while` statement', 'use `loop(LIMIT) until CONDITION [ … ]`, or the stage `VALUE | while(CAP) @f`');
  if (word && words.has(word)) return false;
  const field = look(/@[A-Za-z_][\w-]*(?:\.[\w-]+|\[[^\]\n]*\])+\s*\+=/y, spot);
  if (field) fieldAppend(spot);
  const name = look(/@([A-Za-z_][\w-]*)(?:\.[\w-]+|\[[^\]\n]*\])*/y, spot);
  if (name && look(/\s*=(?![=>~])/y, { text, at: at + name[0].length })) assignment(spot);
  if (spot.furthest > at + (name?.[0].length ?? word?.length ?? 0)) return false;
  if (name) fail(at, `\`${name[0]}\` alone is no statement`, `call it (\`${name[0]}()\`), show it, or return it with \`=> ${name[0]}\``);
  if (/^[-+*/%]/.test(text.slice(at))) fail(at, `\`${text[at]}\` needs a blank on both sides`);
  fail(at, `Expected a statement or \`]\`, found ${describe(text, at)}`);
}

export function noBlock(spot: Spot): false {
  if (look(/\[/y, spot)) return false;
  fail(spot.at, `Expected a block \`[ … ]\`, found ${describe(spot.text, spot.at)}`);
}

export function condition(spot: Spot): false {
  return value(spot);
}

export function ifBody(original: Spot): false {
  const spot = pastSpace(original);
  if (look(/\[/y, spot)) return false;
  if (look(/=>/y, spot)) fail(spot.at, '`if` takes a block, not an arrow', 'write `if CONDITION [ … ]`, or `when CONDITION => ACTION`');
  if (look(/=(?!=)/y, spot)) fail(spot.at, 'Unexpected `=` in a condition', 'compare with `==`');
  if (spot.furthest > spot.at) return false;
  fail(
    spot.at,
    `Expected a block \`[ … ]\` behind the condition of \`if\`, found ${describe(spot.text, spot.at)}`,
    'the brackets are required',
  );
}

/** `when any [ … ]`, `when all [ … ]` */
export function whenWord(spot: Spot): false {
  const word = look(/(any|all)\s*\[/y, spot)?.[1];
  if (word) fail(spot.at, `\`when ${word} [ … ]\` no longer exists`, `join the conditions with \`${word === 'any' ? '||' : '&&'}\``);
  return false;
}

export function when(spot: Spot): false {
  const wrong = look(/[^\n[\]"'`]*?[^=!<>~\s+]\s*(=)(?![=>~])/y, spot);
  if (wrong) fail(spot.at + wrong[0].length - 1, 'Unexpected `=` in a condition', 'compare with `==`');
  if (spot.furthest > spot.at) return false;
  return value(spot);
}

/** Among the arms of a `when`. */
export function arms(original: Spot): false {
  const spot = pastSpace(original);
  const { text, at } = spot;
  if (at >= text.length) fail(spot.openedAt, 'Unclosed `when`: expected `]`');
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
  if (bare && !valueWord.test(bare) && spot.furthest <= at + bare.length) return value(spot);
  if (look(/[^\n[\]"'`]*?[^=!<>~\s+]\s*=(?![=>~])[^\n]*=>/y, spot)) fail(at, 'Unexpected `=` in a condition', 'compare with `==`');
  return false;
}

export function action(spot: Spot): false {
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

export function forBinding(spot: Spot): never {
  const name = look(/[A-Za-z_][\w-]*/y, spot)?.[0];
  if (name) fail(spot.at, `Missing \`@\` before \`${name}\` in \`for\``, `write \`for @${name} in @list => …\``);
  fail(spot.at, `Expected a loop variable behind \`for\`, found ${describe(spot.text, spot.at)}`, 'write `for @item in @list => …`');
}

export function forIn(spot: Spot): never {
  fail(spot.at, `Expected \`in\` behind the variable of \`for\`, found ${describe(spot.text, spot.at)}`, 'write `for @item in @list => …`');
}

export function forSource(spot: Spot): false {
  if (look(/=>/y, spot)) fail(spot.at, 'Expected the list of the `for` behind `in`', 'write `for @item in @list => …`');
  return value(spot);
}

export function forBody(original: Spot): false {
  const spot = pastSpace(original);
  if (spot.furthest > spot.at) return false;
  fail(spot.at, `Expected \`=>\` or a block \`[ … ]\` in \`for\`, found ${describe(spot.text, spot.at)}`);
}

export function loopLimit(spot: Spot): never {
  fail(spot.at, 'The parentheses of a `loop` need a limit', 'write `loop(10) [ … ]`, `loop(endless) [ … ]`, or `loop [ … ]`');
}

// ---------------------------------------------------------------- effects

/** What stands behind `show` is nothing it shows. */
export function show(spot: Spot): false {
  const { text, at, statementAt: from } = spot;
  if (/\n/.test(text.slice(from, at)) || at >= text.length || look(/>>|<<(?=\s)|[;\]]/y, spot)) {
    fail(from, '`show` needs something to show', 'write `show @name` or `show "text"`');
  }
  const hint = 'bind it to a variable first, or write it in a template';
  if (look(/-?\d|true\b|false\b|null\b/y, spot)) fail(at, '`show` takes no number, boolean or null', 'write it as text: `show "…"`');
  if (look(/[[{]/y, spot)) fail(at, '`show` takes no array or object literal', hint);
  if (look(/[!(]/y, spot)) fail(at, '`show` takes no operator expression', hint);
  if (look(/(?:cmd|sh|bash|js|javascript|node|py|python|run|when|for|loop)(?![\w-])/y, spot)) {
    fail(at, `\`show\` takes no \`${look(/\w+/y, spot)?.[0]}\``, hint);
  }
  const word = look(/[A-Za-z_][\w-]*/y, spot)?.[0];
  if (word && word !== 'foreach')
    fail(at, `\`show\` cannot show the word \`${word}\``, `write \`show "${word}"\` for the text or \`show @${word}\` for the variable`);
  return value(spot);
}

/** Behind the one operand of `show`. */
export function afterShow(original: Spot): true {
  const spot = pastBlanks(original);
  if (look(/\/\//y, spot)) fail(spot.at, '`//` does not begin a comment', 'comments begin with `>>`');
  if (look(/[^\n;\]]*=>/y, spot)) return true; // the next arm of a `when` on the same line
  if (look(/[-+*/%?=!~]|&&|\|\||==|[<>]=?(?![<>])/y, spot)) {
    fail(spot.at, '`show` takes one value and no operators', 'bind the result first: `var @result = …`');
  }
  if (look(/@[A-Za-z_][\w.-]*(?![\w.(-])(?!\s*\+?=)|["'`]/y, spot))
    fail(spot.at, '`show` takes exactly one operand', 'join several values in a template');
  return true;
}

export function run(spot: Spot): false {
  const language = look(/(?:sh|bash|js|javascript|node|py|python|cmd|stream|foreach)(?![\w-])/y, spot);
  if (language || look(/[@"'{<|[`]/y, spot)) return false;
  const word = look(/[A-Za-z_][\w-]*/y, spot)?.[0];
  fail(
    spot.at,
    word ? `\`run\` does not know \`${word}\`` : '`run` needs a command',
    'write `run cmd { … }`, `run sh { … }` or `run @function()`',
  );
}

/** `output` and `append` */
export function output(spot: Spot & { readonly word: string }): false {
  const { word, at, text, furthest } = spot;
  const line = look(/[^\n]*/y, spot)?.[0] ?? '';
  if (new RegExp(`^${word}\\s*(?:$|[;\\]])`).test(line))
    fail(at, `\`${word}\` needs a value and a target`, `write \`${word} @value to "file"\``);
  if (/\sto\s*$/.test(line))
    fail(at + line.length, `Expected a target behind \`to\``, 'a target is a quoted path, `stdout`, `stderr` or `env`');
  if (/\sto\s/.test(line)) return false;
  fail(
    Math.max(furthest, at),
    `\`${word}\` needs \`to\` and a target`,
    `write \`${word} @value to ${text.includes('stdout') ? 'stdout' : '"file"'}\``,
  );
}

export function bareTarget(spot: Spot): never {
  const path = look(/[^\s\];]*/y, spot)?.[0] ?? '';
  fail(spot.at, `A target that begins with a variable needs quotes: \`${path}\``, `write \`"${path}"\``);
}

export function alias(spot: Spot): never {
  const name = look(/[A-Za-z_][\w-]*/y, spot)?.[0] ?? 'name';
  fail(spot.at, `An alias needs an at sign: \`as @${name}\``, `write \`as @${name}\``);
}

export function importStatement(spot: Spot): false {
  if (look(/import\s+(?:\w+\s+)?\{\s*\*\s*\}/y, spot))
    fail(spot.at, '`import { * }` needs a name', 'write `import { * as @name } from "…"`');
  if (look(/import\s+(?:\w+\s+)?\{\s*\}/y, spot)) fail(spot.at, '`import { }` names nothing');
  if (look(/import\s+(?:\w+\s+)?\{[^}]*\}\s*(?!from\b|\s)/y, spot))
    fail(spot.at, 'Expected `from` and a source behind the names of `import`', 'write `import { @name } from "./file.mld"`');
  if (look(/import\s+(?:tools|mcp)\b/y, spot)) fail(spot.at, 'Importing tools is not part of this runtime');
  if (look(/import[ \t]*(?:\r?\n|$)/y, spot))
    fail(spot.at, '`import` needs names or a source', 'write `import { @name } from "./file.mld"`');
  return false;
}

export function exportStatement(spot: Spot): false {
  if (!look(/export\s*\{/y, spot)) fail(spot.at, '`export` takes a list of names', 'write `export { @name }`');
  return false;
}

// ---------------------------------------------------------------- instrumentation

const hookForm = 'write `hook @name before @function = [ … ]`, or `after`';

export function hook(spot: Spot): false {
  const { at } = spot;
  const rest = look(/hook[ \t\r\n]*(?:@[A-Za-z_][\w-]*[ \t\r\n]+)?/y, spot)?.[0].length ?? 4;
  const behind = { ...spot, at: at + rest };
  const timing = look(/(\S+?)(?=[\s=]|$)/y, behind)?.[1] ?? '';
  if (timing !== 'before' && timing !== 'after') {
    const named = look(/hook\s+([A-Za-z_][\w-]*)\s+(?:before|after)\b/y, spot)?.[1];
    if (named) fail(at + 5, `The name of a hook needs an at sign: \`@${named}\``, hookForm);
    fail(behind.at, `A hook runs \`before\` or \`after\` something; found ${describe(spot.text, behind.at)}`, hookForm);
  }
  const filterAt = behind.at + (look(/\w+\s*/y, behind)?.[0].length ?? 0);
  const filter = { ...spot, at: filterAt };
  if (look(/=/y, filter)) fail(filterAt, 'A hook needs a filter', hookForm);
  if (look(/["'`]/y, filter)) fail(filterAt, 'The filter of a hook is not quoted', 'write `@function`, `op:type` or a label');
  const known = look(
    /(?:@[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*(?:\([ \t]*(?:"[^"\n]*"|'[^'\n]*')[ \t]*\))?|op:[A-Za-z][\w:-]*|[A-Za-z][\w:-]*)/y,
    filter,
  )?.[0];
  if (!known)
    fail(filterAt, `Expected the filter of a hook, found ${describe(spot.text, filterAt)}`, 'write `@function`, `op:type` or a label');
  const after = pastSpace({ ...spot, at: filterAt + known.length });
  if (look(/\(/y, after)) fail(after.at, 'The prefix in a filter is a quoted text', `write \`${known}("prefix")\``);
  if (look(/,/y, after)) fail(after.at, 'A hook has one filter', 'declare a second hook for the other one');
  if (!look(/=(?!=)/y, after)) fail(at, 'A hook needs `=` and a body behind its filter', hookForm);
  const body = pastSpace({ ...spot, at: after.at + 1 });
  if (!look(/\[|when(?![\w-])/y, body)) fail(body.at, 'The body of a hook is a block `[ … ]` or a `when`', hookForm);
  return false;
}

const guardForm = 'write `guard @name before @function = when [ CONDITION => allow; * => deny "reason" ]`';

export function guard(spot: Spot): false {
  const form = /guard\s+(?:privileged\s+)?(?:@[A-Za-z_][\w-]*\s+)?(\S*)/y;
  const timing = look(form, spot)?.[1] ?? '';
  if (!/^(?:before|after|always|for)$/.test(timing))
    fail(spot.at, `A guard runs \`before\`, \`after\` or \`always\`; found \`${timing}\``, guardForm);
  if (!look(/guard\s+(?:privileged\s+)?(?:@[A-Za-z_][\w-]*\s+)?\w+\s+(?:@?[A-Za-z_][\w.:-]*)\s*=\s*when\s*\[/y, spot)) {
    fail(spot.at, 'A guard needs one filter, `=` and `when [ … ]`', guardForm);
  }
  if (spot.furthest > spot.at) return false;
  fail(spot.at, 'This guard cannot be read', guardForm);
}

export function reason(spot: Spot): never {
  const word = /(deny|retry)$/.exec(spot.text.slice(0, spot.at))?.[0] ?? 'deny';
  fail(spot.at, `\`${word}\` needs a quoted text`, `write \`${word} "reason"\``);
}

const checkpointForm = 'write `checkpoint "name"`';

export function checkpoint(spot: Spot): false {
  const behind = pastBlanks({ ...spot, at: spot.at + 'checkpoint'.length });
  if (!look(/["'`]/y, behind))
    fail(spot.at, `The name of a \`checkpoint\` is a quoted text, not ${describe(spot.text, behind.at)}`, checkpointForm);
  return false;
}

export function checkpointName(name: Template | Literal): true {
  const fixed =
    name.kind === 'literal'
      ? String(name.value)
      : name.parts.every((part) => part.kind === 'text')
        ? name.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
        : 'open';
  if (fixed.trim() === '') fail(name.at, 'The name of a `checkpoint` is empty', checkpointForm);
  return true;
}

export function checkpointOption(original: Spot): false {
  const spot = pastSpace(original);
  const option = look(/([A-Za-z]+)\s*:\s*([^\s,}]*)/y, spot);
  if (option?.[1] === 'resume') fail(spot.at, `\`${option[2]}\` is no value of \`resume\``, 'use `auto`, `manual` or `never`');
  if (option?.[1] === 'ttl') fail(spot.at, `\`${option[2]}\` is no duration`, 'use a number with a unit, as in `30m` or `1d`');
  if (spot.at >= spot.text.length) fail(spot.statementAt, 'Unclosed options of `checkpoint`: expected `}`');
  return separator(spot, '}', 'options');
}

/** Where it can be seen in the text: unknown options, modes and durations. */
export function checkpointValue(option: Options[number]): Options[number] {
  const { name, at, value: given } = option;
  const fixed =
    given.kind === 'literal'
      ? given.value
      : given.kind === 'template' && given.parts.length === 1 && given.parts[0]?.kind === 'text'
        ? given.parts[0].text
        : undefined;
  if (name === 'complete') return option;
  if (name === 'resume') {
    if (fixed !== undefined && !/^(?:auto|manual|never)$/.test(String(fixed)))
      fail(given.at, `\`${fixed}\` is no value of \`resume\``, 'use `auto`, `manual` or `never`');
    return option;
  }
  if (name !== 'ttl') fail(at, `\`${name}\` is no option of \`checkpoint\``, 'the options are `resume`, `ttl` and `complete`');
  if (fixed !== undefined && !(typeof fixed === 'number' && fixed >= 0) && !/^\d+(?:\.\d+)?(?:ms|[smhdw])$/.test(String(fixed))) {
    fail(given.at, `\`${fixed}\` is no duration`, 'use a number with a unit, as in `30m` or `1d`');
  }
  return option;
}
