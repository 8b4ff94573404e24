/** Explains mistakes at the beginning and the end of a statement. */
import { assignment } from './bindings.js';
import { closest } from '../../closest.js';
import { foreignStatement, insteadOf } from './foreign.js';
import { words, fail, otherLetter, otherOperator, look, pastBlanks, describe, type ErrorContext } from './error-context.js';

/** Called in strict mode at the beginning of a line that is not a statement. */
export function statement(context: ErrorContext): false {
  const { text, at } = context;
  const word = look(/\/?([A-Za-z][\w-]*)/y, context)?.[1];
  if (word && words.has(word)) return false;
  if (look(/resume\s*:/iy, context))
    fail(
      at,
      'A `resume:` header must be the very first line, alone on it',
      'write `resume: auto`, `resume: manual` or `resume: never` in line 1',
    );
  if (look(/budget\s*:/iy, context))
    fail(
      at,
      'A `budget:` header must be in the first lines, alone on its line',
      'write `budget: 5usd,300calls` in line 1, or after `resume:`',
    );
  if (look(/---[ \t]*(?:\n|$)/y, context)) {
    if (at > 0) fail(at, 'Frontmatter must be at the start of a file', 'only a `resume:` header may precede it');
    fail(at, 'Unclosed frontmatter: expected a second line `---`');
  }
  if (text.startsWith('//', at) || text.startsWith('/*', at))
    fail(at, `\`${text.slice(at, at + 2)}\` does not begin a comment`, 'comments begin with `>>`');
  foreignStatement(at, word);
  if (word === 'while')
    fail(at, 'There is no `while` statement', 'use `loop(LIMIT) until CONDITION [ … ]`, or the stage `VALUE | while(CAP) @f`');
  if (word === 'skip' || word === 'retry' || word === 'pass') fail(at, `\`${word}\` belongs after an arrow, not on a line of its own`);
  if (word && words.has(word.toLowerCase()))
    fail(at, `\`${word}\` is not a statement: statement words are written in lower case`, `write \`${word.toLowerCase()}\``);
  if (word) otherWord(context, word);
  if (word)
    fail(
      at,
      `Expected a statement, found \`${word}\``,
      'in strict mode every line is a statement or a comment (`>> …`); show text with `show "…"`',
    );
  const name = look(/@([A-Za-z_][\w-]*)[\w.-]*/y, context);
  if (name) otherChange(context);
  if (name && context.furthest <= at + name[0].length + 1) bareReference(context, name[0]);
  const field = look(/@[A-Za-z_][\w.-]*\([^()\n]*\)[.[][\w.[\]-]*(?=[ \t\r]*(?:\n|$))/y, context)?.[0];
  if (field) fail(at, `\`${field}\` alone is not a statement`, `show it with \`show ${field}\``);
  if (look(/@/y, context)) return false;
  if (look(/;/y, context)) fail(at, '`;` does not separate statements at the top level', 'put each statement on a line of its own');
  if (look(/\]/y, context)) fail(at, '`]` without an opening `[`');
  if (look(/["'`{[(<\d]|::/y, context))
    fail(at, `Expected a statement, found ${describe(text, at)}`, 'a value alone is not a statement: show it with `show …`');
  if (look(/[^\s]/y, context)) fail(at, `Expected a statement, found ${describe(text, at)}`);
  return false;
}

/** Maps words of other languages to what mlld has instead. */
const elsewhere: { readonly [word: string]: string } = Object.freeze({
  print: 'write `show @value`',
  echo: 'write `show "text"`, or `run cmd { echo … }`',
  const: 'write `var @name = value`',
  set: 'write `var @name = value`',
  return: 'write `=> value`',
  function: 'write `exe @name(a, b) = …`',
  def: 'write `exe @name(a, b) = …`',
  fn: 'write `exe @name(a, b) = …`',
  exit: 'end the script with `=> value`, or with status 1 by `bail "why"`',
  throw: 'write `bail "why"`',
  switch: 'write `when @value [ PATTERN => ACTION ]`',
  sh: 'write `run sh { … }`',
  bash: 'write `run bash { … }`',
  js: 'write `run js { … }`',
  node: 'write `run node { … }`',
  py: 'write `run py { … }`',
  python: 'write `run py { … }`',
  cmd: 'write `run cmd { … }`',
  from: 'write `import { @name } from "./file.mld"`',
  include: 'write `import { @name } from "./file.mld"`',
  require: 'write `import { @name } from "./file.mld"`',
  break: 'write `done`',
  parallel: 'write `for parallel @item in @list => …`',
  await: 'leave the word out: a call is waited for',
  unless: 'write `if !@condition [ … ]`',
  try: 'errors are not caught: check before, with `if`, or try again with `retry` in a pipeline',
  catch: 'errors are not caught: check before, with `if`, or try again with `retry` in a pipeline',
});

/** Explains a word that begins no statement: a misspelt one, or one of another language. */
export function otherWord(context: ErrorContext, word: string): void {
  if (word === 'else' || word === 'elif' || word === 'elseif') elseAlone(context, word);
  const isCode = look(/\/?[A-Za-z][\w-]*\s*[@"'`{[(<]/y, context);
  const near = isCode && word.length > 2 ? closest(word, words) : undefined;
  const hint = elsewhere[word] ?? (near && `did you mean \`${near}\`?`);
  if (hint) fail(context.at, `\`${word}\` is not a statement`, hint);
}

/** Refuses `@x++` and `@x -= 1`: only one operator changes a name. */
export function otherChange(context: ErrorContext): void {
  const found = look(/(@[A-Za-z_][\w-]*)\s*(\+\+|--|[-*/%]=|\?\?=)/y, context);
  if (!found) return;
  const [, name = '', operator = ''] = found;
  const written = operator === '++' ? `\`${name} += 1\`` : `\`let ${name} = ${name} ${operator.slice(0, -1)} …\``;
  fail(
    context.at + found[0].length - operator.length,
    `\`${operator}\` is not an operator: only \`+=\` changes a name`,
    `in a block, write ${written}`,
  );
}

/** Refuses an `else` that does not follow the block of an `if`. */
export function elseAlone(context: ErrorContext, word: string): never {
  if (word !== 'else') fail(context.at, `There is no \`${word}\``, 'write `else if CONDITION [ … ]`');
  fail(context.at, '`else` belongs after the `]` of an `if`', 'write `if CONDITION [ … ] else [ … ]`');
}

/** Called in a `mlld-run` fence of a Markdown file, where a statement or its end is expected. */
export function runFence(context: ErrorContext): false {
  if (context.at >= context.text.length)
    fail(context.text.lastIndexOf('```mlld-run'), 'Unclosed `mlld-run` fence: expected three backticks on a line of their own');
  return statement(context);
}

function bareReference(context: ErrorContext, name: string): never {
  const behind = pastBlanks({ ...context, at: context.at + name.length });
  if (look(/=(?![=>~])/y, behind)) assignment(context);
  fail(context.at, `\`${name}\` alone is not a statement`, `show it with \`show ${name}\`, or call it: \`${name}()\``);
}

/** Called behind a complete statement of the top level. */
export function afterStatement(original: ErrorContext): false {
  const context = pastBlanks(original);
  const { text, at } = context;
  if (look(/;/y, context))
    fail(at, '`;` does not separate statements at the top level', 'put each statement on a line of its own; inside `[ … ]` a `;` is fine');
  if (look(/\/\//y, context)) fail(at, '`//` does not begin a comment', 'comments begin with `>>`');
  if (look(/[-+*/%]/y, original)) fail(at, `\`${text[at]}\` needs a blank on both sides`, `write \`@a ${text[at]} 1\``);
  otherOperator(context);
  if (look(/from(?![\w-])/y, context) && look(/import\s+@/y, { text, at: context.statementAt }))
    fail(at, 'The names of an `import` are written in braces', 'write `import { @name } from "./file.mld"`');
  if (look(/\?(?![?."`])/y, context) && context.furthest > at && !text.slice(at, context.furthest).includes(':'))
    fail(at, '`?` without its `:`', 'write `CONDITION ? A : B`');
  otherLetter(original);
  if (context.furthest > at) return false;
  if (look(/\.[A-Za-z_]/y, original)) fail(at, 'A field or method cannot follow this value directly', 'bind the value to a variable first');
  if (look(/=(?![=>~])/y, context)) fail(at, 'Unexpected `=`', 'compare with `==`');
  if (look(/,/y, context)) fail(at, 'Unexpected comma after a statement');
  const word = look(/[A-Za-z]+/y, context)?.[0];
  if (word && words.has(word)) fail(at, `A second statement (\`${word}\`) on the same line`, 'put each statement on a line of its own');
  const closing = look(/[\])}]/y, context)?.[0];
  if (closing) fail(at, `\`${closing}\` without an opening \`${{ ']': '[', ')': '(', '}': '{' }[closing]}\``);
  if (word && /^else?if$|^elif$/.test(word)) elseAlone(context, word);
  if (look(/\|(?!\|)/y, context) && /\swith\s*\{[^]*\}\s*$/.test(text.slice(context.statementAt, at)))
    fail(at, 'Stages stand before `with`', 'write `VALUE | @stage with { … }`');
  if (look(/using\s+auth\b/y, { text, at })) fail(at, '`using auth` is not part of this runtime', insteadOf.auth);
  fail(at, `Expected the end of the statement, found ${describe(text, at)}`, word && 'a comment after a statement begins with `>>`');
}

export function header(context: ErrorContext): never {
  const line = look(/[^\n]*/y, context)?.[0].trim() ?? '';
  if (/^budget/i.test(line))
    fail(context.at, `\`${line}\` is not a valid header`, 'a budget is a list of limits: `budget: 5usd,2Mtok,300calls,3h`');
  fail(
    context.at,
    `\`${line}\` is not a valid header`,
    'the first line may be `resume: auto`, `resume: manual` or `resume: never`, with nothing after it',
  );
}
