/** Slips at the beginning and the end of a statement. */
import { assignment } from './bindings.js';
import { closest } from '../../closest.js';
import { words, foreign, fail, otherLetter, otherOperator, look, pastBlanks, describe, type ErrorContext } from './error-context.js';

/** Strict mode, at the beginning of a line that is no statement. */
export function statement(spot: ErrorContext): false {
  const { text, at } = spot;
  const word = look(/\/?([A-Za-z][\w-]*)/y, spot)?.[1];
  if (word && words.has(word)) return false;
  if (look(/resume\s*:/iy, spot))
    fail(
      at,
      'A `resume:` header must be the very first line, alone on it',
      'write `resume: auto`, `resume: manual` or `resume: never` in line 1',
    );
  if (look(/---[ \t]*(?:\n|$)/y, spot)) {
    if (at > 0) fail(at, 'Frontmatter stands at the start of a file', 'only a `resume:` header may stand before it');
    fail(at, 'Unclosed frontmatter: expected a second line `---`');
  }
  if (text.startsWith('//', at) || text.startsWith('/*', at))
    fail(at, `\`${text.slice(at, at + 2)}\` does not begin a comment`, 'comments begin with `>>`');
  if (word && foreign.has(word)) fail(at, `\`${word}\` is not part of this runtime`);
  if (word === 'while')
    fail(at, 'There is no `while` statement', 'use `loop(LIMIT) until CONDITION [ … ]`, or the stage `VALUE | while(CAP) @f`');
  if (word === 'skip' || word === 'retry' || word === 'pass') fail(at, `\`${word}\` stands behind an arrow, not on a line of its own`);
  if (word && words.has(word.toLowerCase()))
    fail(at, `\`${word}\` is no statement: statement words are written in lower case`, `write \`${word.toLowerCase()}\``);
  if (word) otherWord(spot, word);
  if (word)
    fail(
      at,
      `Expected a statement, found \`${word}\``,
      'in strict mode every line is a statement or a comment (`>> …`); show text with `show "…"`',
    );
  const name = look(/@([A-Za-z_][\w-]*)[\w.-]*/y, spot);
  if (name) otherChange(spot);
  if (name && spot.furthest <= at + name[0].length + 1) bareReference(spot, name[0]);
  const field = look(/@[A-Za-z_][\w.-]*\([^()\n]*\)[.[][\w.[\]-]*(?=[ \t\r]*(?:\n|$))/y, spot)?.[0];
  if (field) fail(at, `\`${field}\` alone is no statement`, `show it with \`show ${field}\``);
  if (look(/@/y, spot)) return false;
  if (look(/;/y, spot)) fail(at, '`;` does not separate statements at the top level', 'put each statement on a line of its own');
  if (look(/\]/y, spot)) fail(at, '`]` without an opening `[`');
  if (look(/[^\s]/y, spot)) fail(at, `Expected a statement, found ${describe(text, at)}`);
  return false;
}

/** What other languages call it. */
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
  unless: 'write `if !@condition [ … ]`',
  try: 'errors are not caught: check before, with `if`, or ask again with `retry` in a pipeline',
  catch: 'errors are not caught: check before, with `if`, or ask again with `retry` in a pipeline',
});

/** A word that begins no statement, where one has to begin: a misspelt one, or one of another language. */
export function otherWord(spot: ErrorContext, word: string): void {
  if (word === 'else' || word === 'elif' || word === 'elseif') elseAlone(spot, word);
  const isCode = look(/\/?[A-Za-z][\w-]*\s*[@"'`{[(<]/y, spot);
  const near = isCode && word.length > 2 ? closest(word, words) : undefined;
  const hint = elsewhere[word] ?? (near && `did you mean \`${near}\`?`);
  if (hint) fail(spot.at, `\`${word}\` is no statement`, hint);
}

/** `@x++`, `@x -= 1`: of the operators that change a name there is one. */
export function otherChange(spot: ErrorContext): void {
  const found = look(/(@[A-Za-z_][\w-]*)\s*(\+\+|--|[-*/%]=|\?\?=)/y, spot);
  if (!found) return;
  const [, name = '', operator = ''] = found;
  const written = operator === '++' ? `\`${name} += 1\`` : `\`let ${name} = ${name} ${operator.slice(0, -1)} …\``;
  fail(
    spot.at + found[0].length - operator.length,
    `\`${operator}\` is no operator: only \`+=\` changes a name`,
    `in a block, write ${written}`,
  );
}

/** `else` where no block of an `if` has just ended. */
export function elseAlone(spot: ErrorContext, word: string): never {
  if (word !== 'else') fail(spot.at, `There is no \`${word}\``, 'write `else if CONDITION [ … ]`');
  fail(spot.at, '`else` stands behind the `]` of an `if`', 'write `if CONDITION [ … ] else [ … ]`');
}

/** In a `mlld-run` fence of a Markdown file, where neither a statement nor its end stands. */
export function runFence(spot: ErrorContext): false {
  if (spot.at >= spot.text.length)
    fail(spot.text.lastIndexOf('```mlld-run'), 'Unclosed `mlld-run` fence: expected three backticks on a line of their own');
  return statement(spot);
}

function bareReference(spot: ErrorContext, name: string): never {
  const behind = pastBlanks({ ...spot, at: spot.at + name.length });
  if (look(/=(?![=>~])/y, behind)) assignment(spot);
  fail(spot.at, `\`${name}\` alone is no statement`, `show it with \`show ${name}\`, or call it: \`${name}()\``);
}

/** Behind a complete statement of the top level. */
export function afterStatement(original: ErrorContext): false {
  const spot = pastBlanks(original);
  const { text, at } = spot;
  if (look(/;/y, spot))
    fail(at, '`;` does not separate statements at the top level', 'put each statement on a line of its own; inside `[ … ]` a `;` is fine');
  if (look(/\/\//y, spot)) fail(at, '`//` does not begin a comment', 'comments begin with `>>`');
  if (look(/[-+*/%]/y, original)) fail(at, `\`${text[at]}\` needs a blank on both sides`, `write \`@a ${text[at]} 1\``);
  otherOperator(spot);
  if (look(/from(?![\w-])/y, spot) && look(/import\s+@/y, { text, at: spot.statementAt }))
    fail(at, 'The names of an `import` stand in braces', 'write `import { @name } from "./file.mld"`');
  if (look(/\?(?![?."`])/y, spot) && spot.furthest > at && !text.slice(at, spot.furthest).includes(':'))
    fail(at, '`?` without its `:`', 'write `CONDITION ? A : B`');
  otherLetter(original);
  if (spot.furthest > at) return false;
  if (look(/\.[A-Za-z_]/y, original)) fail(at, 'A field or method cannot follow this value directly', 'bind the value to a variable first');
  if (look(/=(?![=>~])/y, spot)) fail(at, 'Unexpected `=`', 'compare with `==`');
  if (look(/,/y, spot)) fail(at, 'Unexpected comma behind a statement');
  const word = look(/[A-Za-z]+/y, spot)?.[0];
  if (word && words.has(word)) fail(at, `A second statement (\`${word}\`) on the same line`, 'put each statement on a line of its own');
  const closing = look(/[\])}]/y, spot)?.[0];
  if (closing) fail(at, `\`${closing}\` without an opening \`${{ ']': '[', ')': '(', '}': '{' }[closing]}\``);
  if (word && /^else?if$|^elif$/.test(word)) elseAlone(spot, word);
  fail(at, `Expected the end of the statement, found ${describe(text, at)}`, word && 'a comment behind a statement begins with `>>`');
}

export function header(spot: ErrorContext): never {
  const line = look(/[^\n]*/y, spot)?.[0].trim() ?? '';
  fail(
    spot.at,
    `\`${line}\` is no valid header`,
    'the first line may be `resume: auto`, `resume: manual` or `resume: never`, with nothing behind it',
  );
}
