/** Explains mistakes in var, let, += and exe. */
import { fail, look, otherLetter, pastBlanks, describe, type ErrorContext } from './error-context.js';

export function variable(context: ErrorContext): false {
  return binding(context, 'var');
}

function binding(context: ErrorContext, word: 'var' | 'let'): false {
  const { text, at, statementAt } = context;
  const labels = '(?:[A-Za-z][\\w:-]*(?:\\s*,\\s*[A-Za-z][\\w:-]*)*\\s*)?';
  const find = (pattern: string) => look(new RegExp(`${word}(?![\\w-])\\s*${pattern}`, 'y'), context);
  const bare = find('()([A-Za-z_][\\w-]*)\\s*=');
  if (bare)
    fail(
      at + bare[0].indexOf(bare[2] as string, word.length),
      `Missing \`@\` before the name in \`${word} ${bare[2]}\``,
      `write \`${word} @${bare[2]} = …\``,
    );
  arrowFunction(find(`${labels}@[A-Za-z_][\\w-]*\\s*=\\s*`), context);
  const dollar = find(`()${labels}\\$([A-Za-z_][\\w-]*)`)?.[2];
  if (dollar) fail(text.indexOf('$', at), `\`$${dollar}\`: a name begins with an at sign`, `write \`${word} @${dollar} = …\``);
  const digit = find(`${labels}@([^\\sA-Za-z_=][^\\s=]*)`);
  if (digit) fail(at + digit[0].length - (digit[1] as string).length, `\`@${digit[1]}\`: a name must start with a letter or underscore`);
  if (find(`${labels}@\\s*(?:=|$)`) || find(`${labels}@\\s`))
    fail(statementAt, `Expected a name after \`@\` in \`${word}\``, `write \`${word} @name = …\``);
  const field = find(`${labels}@([A-Za-z_][\\w-]*[.[][^=\\s]*)\\s*\\+?=`);
  if (field) fail(at, `\`${word}\` needs a whole variable, not \`@${field[1]}\``);
  const equals = find(`${labels}@([A-Za-z_][\\w-]*)\\??`);
  if (equals && !look(/\s*(?:=(?!=)|\+=)/y, { ...context, at: at + equals[0].length })) {
    otherLetter({ text, at: at + equals[0].length });
    fail(at + equals[0].length, `Expected \`=\` after \`@${equals[1]}\``, `write \`${word} @${equals[1]} = …\``);
  }
  const several = find('([A-Za-z][\\w:-]*(?:\\s*,\\s*[A-Za-z][\\w:-]*)*)\\s+([A-Za-z][\\w:-]*)\\s*[@,]');
  if (several)
    fail(at, `Two labels of a \`${word}\` need a comma between them`, `write \`${word} ${several[1]}, ${several[2]} @name = …\``);
  const badLabel = find('([^\\sA-Za-z@=][^\\s@=]*)\\s*@');
  if (badLabel) fail(at, `\`${badLabel[1]}\` is not a label of a \`${word}\`: a label begins with a letter`);
  if (!find('\\S')) fail(at, `Expected a name after \`${word}\``, `write \`${word} @name = …\``);
  return false;
}

/** Refuses `let` at the top level of a file. */
export function letAtTop(context: ErrorContext): never {
  labelledLet(context);
  const name = look(/let\s*@([\w-]+)/y, context)?.[1] ?? 'name';
  fail(context.at, '`let` is allowed only inside a block', `at the top level use \`var @${name} = …\``);
}

export function letStatement(context: ErrorContext): false {
  labelledLet(context);
  if (look(/let\s*@[A-Za-z_][\w-]*[.[][^=\n]*\+=/y, context)) fieldAppend(context);
  return binding(context, 'let');
}

function labelledLet(context: ErrorContext): void {
  const labels = look(/let\s+([A-Za-z][\w:-]*(?:\s*,\s*[A-Za-z][\w:-]*)*)\s*@/y, context)?.[1];
  if (!labels) return;
  fail(
    context.at,
    `\`let\` takes no labels (\`${labels}\`): labels belong to \`var\` and \`exe\``,
    `declare it with \`var ${labels} @name = …\`, or wrap the call in an \`exe ${labels}\``,
  );
}

export function fieldAppend(context: ErrorContext): never {
  fail(context.at, '`+=` changes whole variables, not fields', 'build the new object with `{ ...@object, field: value }`');
}

export function topAssignment(context: ErrorContext): true {
  const name = look(/(@[A-Za-z_][\w-]*)\s*\+=/y, context)?.[1];
  if (name) fail(context.at, `\`${name} += …\` is allowed only inside a block`);
  return true;
}

export function assignment(context: ErrorContext): never {
  const name = look(/@[A-Za-z_][\w-]*(?:\.[\w-]+|\[[^\]\n]*\])*/y, context)?.[0] ?? '@name';
  const object = /^@[\w-]+(?=\.)/.exec(name)?.[0];
  if (object) fail(context.at, `\`${name} = …\`: values don't change`, `make a new object, as in \`{ ...${object}, field: value }\``);
  if (name.includes('[')) fail(context.at, `\`${name} = …\`: values don't change`, 'make a new array or object');
  fail(
    context.at,
    `\`${name} = …\` is not a statement: there is no plain assignment`,
    `declare a new name with \`var ${name} = …\` or \`let ${name} = …\`, or change it with \`+=\``,
  );
}

export function executable(context: ErrorContext): false {
  if (!look(/exe\s+\S/y, context)) fail(context.at, 'Expected a name after `exe`', 'write `exe @name(…) = …`');
  const bare = look(/exe\s+(?:[A-Za-z][\w:,\s-]*\s)?([A-Za-z_][\w-]*)\s*(?:\([^)\n]*\)\s*=|=\s*[^{\s])/y, context);
  if (bare)
    fail(
      context.text.indexOf(bare[1] as string, context.at + 3),
      `Missing \`@\` before the name \`${bare[1]}\``,
      `write \`exe @${bare[1]}(…) = …\``,
    );
  arrowFunction(look(/exe\s+(?:[A-Za-z][\w:,\s-]*)?@[A-Za-z_][\w-]*\s*=\s*/y, context), context);
  const digit = look(/exe\s+(?:[A-Za-z][\w:,\s-]*)?@([^\sA-Za-z_][^\s(=]*)/y, context);
  if (digit) fail(context.at, `\`@${digit[1]}\`: a name must start with a letter or underscore`);
  const equals = look(/exe\s+(?:[A-Za-z][\w:,\s-]*)?@([A-Za-z_][\w-]*)(?![\w-])\s*(?:\([^)]*\))?\s*(?!=)[^\s(=]/y, context);
  if (equals) {
    otherLetter({ text: context.text, at: context.at + equals[0].length - 1 });
    fail(context.at + equals[0].length - 1, `Expected \`=\` after \`@${equals[1]}(…)\``, `write \`exe @${equals[1]}(…) = BODY\``);
  }
  return false;
}

/** Refuses `(x) => …` behind the equals sign. */
function arrowFunction(before: RegExpExecArray | null, { text, at }: ErrorContext): void {
  const start = at + (before?.[0].length ?? 0);
  const found = before && look(/(?:async\s+)?\(([\w\s,@]*)\)\s*=>/y, { text, at: start });
  if (found) fail(start, 'There are no functions without a name', `write \`exe @name(${found[1]}) = …\``);
}

export function params(original: ErrorContext): false {
  const context = pastBlanks(original);
  if (look(/=/y, context)) fail(context.at, 'Parameters have no default values', 'use `@name ?? "default"` in the body');
  fail(context.at, `Expected \`,\` or \`)\` in the list of parameters, found ${describe(context.text, context.at)}`);
}

/** Refuses a bracket as a body that begins with a literal: it is an array, not a block. */
export function arrayBody(context: ErrorContext): true {
  if (look(/\[\s*(?:["'`\d{[-]|(?:true|false|null)(?![\w-])|@[A-Za-z_][\w.-]*\s*,)/y, context))
    fail(context.at, 'An array is not the body of a function', 'return it from a block: `[ => […] ]`');
  return true;
}

export function bareBody(context: ErrorContext): never {
  fail(
    context.at,
    'A body in bare braces is neither a command nor an object',
    'write `cmd { … }` for a command, `sh { … }` for a shell script, `{ key: value }` for an object',
  );
}

export function runBody(context: ErrorContext): false {
  const language = look(/run\s+(sh|bash|js|javascript|node|py|python)(?![\w-])/y, context)?.[1];
  if (language) fail(context.at, `\`run ${language} { … }\` is not a body`, `write \`${language} { … }\` without \`run\``);
  const called = look(/run\s+@([A-Za-z_][\w.-]*)(?![\w.([-]|\s*\|)/y, context)?.[1];
  if (called) fail(context.at, `\`run @${called}\` is not a body`, `write the call without \`run\`: \`= @${called}(…)\``);
  return false;
}
