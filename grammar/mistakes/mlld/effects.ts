/** Slips in what leaves the script, and in import and export. */
import { value } from './values.js';
import { fail, look, pastBlanks, type ErrorContext } from './error-context.js';

/** What stands behind `show` is nothing it shows. */
export function show(spot: ErrorContext): false {
  const { text, at, statementAt: from } = spot;
  parenthesised(spot, 'show');
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
export function afterShow(original: ErrorContext): true {
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

export function run(spot: ErrorContext): false {
  const language = look(/(?:sh|bash|js|javascript|node|py|python|cmd|stream|foreach)(?![\w-])/y, spot);
  if (language || look(/[@"'{<|[`]/y, spot)) return false;
  const word = look(/[A-Za-z_][\w-]*/y, spot)?.[0];
  fail(
    spot.at,
    word ? `\`run\` does not know \`${word}\`` : '`run` needs a command',
    'write `run cmd { … }`, `run sh { … }` or `run @function()`',
  );
}

/** Where nothing is logged: the value stands on the line of the word. */
export function log(spot: ErrorContext): never {
  parenthesised(spot, 'log');
  fail(spot.statementAt, '`log` needs something to log', 'write `log @name` or `log "text"`');
}

/** `show("x")`: these words are statements, no functions. */
function parenthesised(spot: ErrorContext, word: string): void {
  if (look(/\(/y, spot) && spot.text.slice(spot.statementAt, spot.at).trimStart() === word)
    fail(spot.at, `\`${word}\` takes no parentheses`, `write \`${word} @name\` or \`${word} "text"\``);
}

/** `output` and `append` */
export function output(spot: ErrorContext & { readonly word: string }): false {
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

export function bareTarget(spot: ErrorContext): never {
  const path = look(/[^\s\];]*/y, spot)?.[0] ?? '';
  fail(spot.at, `A target that begins with a variable needs quotes: \`${path}\``, `write \`"${path}"\``);
}

export function alias(spot: ErrorContext): never {
  const name = look(/[A-Za-z_][\w-]*/y, spot)?.[0] ?? 'name';
  fail(spot.at, `An alias needs an at sign: \`as @${name}\``, `write \`as @${name}\``);
}

export function importStatement(spot: ErrorContext): false {
  if (look(/import\s+(?:\w+\s+)?\{\s*\*\s*\}/y, spot))
    fail(spot.at, '`import { * }` needs a name', 'write `import { * as @name } from "…"`');
  if (look(/import\s+(?:\w+\s+)?\{\s*\}/y, spot)) fail(spot.at, '`import { }` names nothing');
  if (look(/import\s+(?:\w+\s+)?\{[^}]*\}\s*(?!from\b|\s)/y, spot))
    fail(spot.at, 'Expected `from` and a source behind the names of `import`', 'write `import { @name } from "./file.mld"`');
  const bare = look(/import\s+(?:\{[^}]*\}\s*from\s+)?(?=\.{0,2}\/)/y, spot);
  if (bare) {
    const path = look(/[^\s]*/y, { ...spot, at: spot.at + bare[0].length })?.[0];
    fail(spot.at + bare[0].length, 'The path of an `import` stands in quotes', `write \`"${path}"\``);
  }
  const open = look(/import\s+(?:\{[^}]*\}\s*from\s+)?(?=(["'])(?:(?!\1)[^\n])*(?:\n|$))/y, spot);
  if (open) fail(spot.at + open[0].length, 'Unclosed string in `import`: the closing quote is missing');
  const whole = look(/import\s+\*\s+as\s+@?([A-Za-z_][\w-]*)/y, spot)?.[1];
  if (whole) fail(spot.at, '`import *` stands in braces', `write \`import { * as @${whole} } from "./file.mld"\``);
  const name = look(/import\s+([A-Za-z_][\w-]*)\s+(?:from|as)\b/y, spot)?.[1];
  if (name)
    fail(
      spot.at,
      'The names of an `import` stand in braces',
      `write \`import { @${name} } from "./file.mld"\`, or \`import "./file.mld" as @${name}\` for all of it`,
    );
  if (look(/import\s+(?:tools|mcp)\b/y, spot)) fail(spot.at, 'Importing tools is not part of this runtime');
  if (look(/import[ \t]*(?:\r?\n|$)/y, spot))
    fail(spot.at, '`import` needs names or a source', 'write `import { @name } from "./file.mld"`');
  return false;
}

export function exportStatement(spot: ErrorContext): false {
  if (!look(/export\s*\{/y, spot)) fail(spot.at, '`export` takes a list of names', 'write `export { @name }`');
  return false;
}
