/** Slips in var, let, += and exe. */
import { fail, look, otherLetter, pastBlanks, describe, type ErrorContext } from './error-context.js';

export function variable(spot: ErrorContext): false {
  return binding(spot, 'var');
}

function binding(spot: ErrorContext, word: 'var' | 'let'): false {
  const { text, at, statementAt } = spot;
  const labels = '(?:[A-Za-z][\\w:-]*(?:\\s*,\\s*[A-Za-z][\\w:-]*)*\\s*)?';
  const find = (pattern: string) => look(new RegExp(`${word}(?![\\w-])\\s*${pattern}`, 'y'), spot);
  const bare = find('()([A-Za-z_][\\w-]*)\\s*=');
  if (bare)
    fail(
      at + bare[0].indexOf(bare[2] as string, word.length),
      `Missing \`@\` before the name in \`${word} ${bare[2]}\``,
      `write \`${word} @${bare[2]} = …\``,
    );
  arrowFunction(find(`${labels}@[A-Za-z_][\\w-]*\\s*=\\s*`), spot);
  const dollar = find(`()${labels}\\$([A-Za-z_][\\w-]*)`)?.[2];
  if (dollar) fail(text.indexOf('$', at), `\`$${dollar}\`: a name begins with an at sign`, `write \`${word} @${dollar} = …\``);
  const digit = find(`${labels}@([^\\sA-Za-z_=][^\\s=]*)`);
  if (digit) fail(at + digit[0].length - (digit[1] as string).length, `\`@${digit[1]}\`: a name must start with a letter or underscore`);
  if (find(`${labels}@\\s*(?:=|$)`) || find(`${labels}@\\s`))
    fail(statementAt, `Expected a name behind \`@\` in \`${word}\``, `write \`${word} @name = …\``);
  const field = find(`${labels}@([A-Za-z_][\\w-]*[.[][^=\\s]*)\\s*\\+?=`);
  if (field) fail(at, `\`${word}\` needs a whole variable, not \`@${field[1]}\``);
  const equals = find(`${labels}@([A-Za-z_][\\w-]*)\\??`);
  if (equals && !look(/\s*(?:=(?!=)|\+=)/y, { ...spot, at: at + equals[0].length })) {
    otherLetter({ text, at: at + equals[0].length });
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
export function letAtTop(spot: ErrorContext): never {
  labelledLet(spot);
  const name = look(/let\s*@([\w-]+)/y, spot)?.[1] ?? 'name';
  fail(spot.at, '`let` stands only inside of a block', `at the top level use \`var @${name} = …\``);
}

export function letStatement(spot: ErrorContext): false {
  labelledLet(spot);
  if (look(/let\s*@[A-Za-z_][\w-]*[.[][^=\n]*\+=/y, spot)) fieldAppend(spot);
  return binding(spot, 'let');
}

function labelledLet(spot: ErrorContext): void {
  const labels = look(/let\s+([A-Za-z][\w:-]*(?:\s*,\s*[A-Za-z][\w:-]*)*)\s*@/y, spot)?.[1];
  if (!labels) return;
  fail(
    spot.at,
    `\`let\` takes no labels (\`${labels}\`): labels belong to \`var\` and \`exe\``,
    `declare it with \`var ${labels} @name = …\`, or wrap the call in an \`exe ${labels}\``,
  );
}

export function fieldAppend(spot: ErrorContext): never {
  fail(spot.at, '`+=` changes whole variables, not fields', 'build the new object with `{ ...@object, field: value }`');
}

export function topAssignment(spot: ErrorContext): true {
  const name = look(/(@[A-Za-z_][\w-]*)\s*\+=/y, spot)?.[1];
  if (name) fail(spot.at, `\`${name} += …\` stands only inside of a block`);
  return true;
}

export function assignment(spot: ErrorContext): never {
  const name = look(/@[A-Za-z_][\w-]*(?:\.[\w-]+|\[[^\]\n]*\])*/y, spot)?.[0] ?? '@name';
  const object = /^@[\w-]+(?=\.)/.exec(name)?.[0];
  if (object) fail(spot.at, `\`${name} = …\`: values don't change`, `make a new object, as in \`{ ...${object}, field: value }\``);
  if (name.includes('[')) fail(spot.at, `\`${name} = …\`: values don't change`, 'make a new array or object');
  fail(
    spot.at,
    `\`${name} = …\` is no statement: there is no plain assignment`,
    `declare a new name with \`var ${name} = …\` or \`let ${name} = …\`, or change it with \`+=\``,
  );
}

export function executable(spot: ErrorContext): false {
  if (!look(/exe\s+\S/y, spot)) fail(spot.at, 'Expected a name behind `exe`', 'write `exe @name(…) = …`');
  const bare = look(/exe\s+(?:[A-Za-z][\w:,\s-]*\s)?([A-Za-z_][\w-]*)\s*(?:\([^)\n]*\)\s*=|=\s*[^{\s])/y, spot);
  if (bare)
    fail(
      spot.text.indexOf(bare[1] as string, spot.at + 3),
      `Missing \`@\` before the name \`${bare[1]}\``,
      `write \`exe @${bare[1]}(…) = …\``,
    );
  arrowFunction(look(/exe\s+(?:[A-Za-z][\w:,\s-]*)?@[A-Za-z_][\w-]*\s*=\s*/y, spot), spot);
  const digit = look(/exe\s+(?:[A-Za-z][\w:,\s-]*)?@([^\sA-Za-z_][^\s(=]*)/y, spot);
  if (digit) fail(spot.at, `\`@${digit[1]}\`: a name must start with a letter or underscore`);
  const equals = look(/exe\s+(?:[A-Za-z][\w:,\s-]*)?@([A-Za-z_][\w-]*)\s*(?:\([^)]*\))?\s*(?!=)[^\s(=]/y, spot);
  if (equals) {
    otherLetter({ text: spot.text, at: spot.at + equals[0].length - 1 });
    fail(spot.at + equals[0].length - 1, `Expected \`=\` after \`@${equals[1]}(…)\``, `write \`exe @${equals[1]}(…) = BODY\``);
  }
  return false;
}

/** `(x) => …`, behind the equals sign. */
function arrowFunction(before: RegExpExecArray | null, { text, at }: ErrorContext): void {
  const start = at + (before?.[0].length ?? 0);
  const found = before && look(/(?:async\s+)?\(([\w\s,@]*)\)\s*=>/y, { text, at: start });
  if (found) fail(start, 'There are no functions without a name', `write \`exe @name(${found[1]}) = …\``);
}

export function params(original: ErrorContext): false {
  const spot = pastBlanks(original);
  if (look(/=/y, spot)) fail(spot.at, 'Parameters have no default values', 'use `@name ?? "default"` in the body');
  fail(spot.at, `Expected \`,\` or \`)\` in the list of parameters, found ${describe(spot.text, spot.at)}`);
}

/** A bracket as a body: one that begins with a literal is an array, and no block. */
export function arrayBody(spot: ErrorContext): true {
  if (look(/\[\s*(?:["'`\d{[-]|(?:true|false|null)(?![\w-])|@[A-Za-z_][\w.-]*\s*,)/y, spot))
    fail(spot.at, 'An array is not the body of a function', 'return it from a block: `[ => […] ]`');
  return true;
}

export function bareBody(spot: ErrorContext): never {
  fail(
    spot.at,
    'A body in bare braces is neither a command nor an object',
    'write `cmd { … }` for a command, `sh { … }` for a shell script, `{ key: value }` for an object',
  );
}

export function runBody(spot: ErrorContext): false {
  const language = look(/run\s+(sh|bash|js|javascript|node|py|python)(?![\w-])/y, spot)?.[1];
  if (language) fail(spot.at, `\`run ${language} { … }\` is not a body`, `write \`${language} { … }\` without \`run\``);
  return false;
}
