/** Explains mistakes in statements with effects, and in import and export. */
import { foreignStatement } from './foreign.js';
import { value } from './values.js';
import { describe, fail, look, pastBlanks, type ErrorContext } from './error-context.js';

/** Called at an operand that `show` does not accept. */
export function show(context: ErrorContext): false {
  const { text, at, statementAt: from } = context;
  parenthesised(context, 'show');
  if (/\n/.test(text.slice(from, at)) || at >= text.length || look(/>>|<<(?=\s)|[;\]]/y, context)) {
    fail(from, '`show` needs something to show', 'write `show @name` or `show "text"`');
  }
  const hint = 'bind it to a variable first, or write it in a template';
  if (look(/-?\d|true\b|false\b|null\b/y, context)) fail(at, '`show` takes no number, boolean or null', 'write it as text: `show "…"`');
  if (look(/[[{]/y, context)) fail(at, '`show` takes no array or object literal', hint);
  if (look(/[!(]/y, context)) fail(at, '`show` takes no operator expression', hint);
  if (look(/(?:cmd|sh|bash|js|javascript|node|py|python|run|when|for|loop)(?![\w-])/y, context)) {
    fail(at, `\`show\` takes no \`${look(/\w+/y, context)?.[0]}\``, hint);
  }
  const word = look(/[A-Za-z_][\w-]*/y, context)?.[0];
  if (word && word !== 'foreach')
    fail(at, `\`show\` cannot show the word \`${word}\``, `write \`show "${word}"\` for the text or \`show @${word}\` for the variable`);
  return value(context);
}

/** Called behind the one operand of `show`. */
export function afterShow(original: ErrorContext): true {
  const context = pastBlanks(original);
  if (look(/\/\//y, context)) fail(context.at, '`//` does not begin a comment', 'comments begin with `>>`');
  if (look(/[^\n;\]]*=>/y, context)) return true; // the next arm of a `when` on the same line
  if (look(/[-+*/%?=!~]|&&|\|\||==|[<>]=?(?![<>])/y, context)) {
    fail(context.at, '`show` takes one value and no operators', 'bind the result first: `var @result = …`');
  }
  if (look(/@[A-Za-z_][\w.-]*(?![\w.(-])(?!\s*\+?=)|["'`]/y, context))
    fail(context.at, '`show` takes exactly one operand', 'join several values in a template');
  return true;
}

export function run(context: ErrorContext): false {
  const language = look(/(?:sh|bash|js|javascript|node|py|python|cmd|stream|foreach)(?![\w-])/y, context);
  if (language || look(/[@"'{<|[`]/y, context)) return false;
  const word = look(/[A-Za-z_][\w-]*/y, context)?.[0];
  fail(
    context.at,
    word ? `\`run\` does not know \`${word}\`` : '`run` needs a command',
    'write `run cmd { … }`, `run sh { … }` or `run @function()`',
  );
}

/** Called where `log` has no value, which must be on the line of the word. */
export function log(context: ErrorContext): never {
  parenthesised(context, 'log');
  fail(context.statementAt, '`log` needs something to log', 'write `log @name` or `log "text"`');
}

/** Refuses `show("x")`: these words are statements, not functions. */
function parenthesised(context: ErrorContext, word: string): void {
  if (look(/\(/y, context) && context.text.slice(context.statementAt, context.at).trimStart() === word)
    fail(context.at, `\`${word}\` takes no parentheses`, `write \`${word} @name\` or \`${word} "text"\``);
}

/** Called for `output` and `append`. */
export function output(context: ErrorContext & { readonly word: string }): false {
  const { word, at, text, furthest } = context;
  const line = look(/[^\n]*/y, context)?.[0] ?? '';
  if (new RegExp(`^${word}\\s*(?:$|[;\\]])`).test(line))
    fail(at, `\`${word}\` needs a value and a target`, `write \`${word} @value to "file"\``);
  if (/\sto\s*$/.test(line))
    fail(at + line.length, `Expected a target after \`to\``, 'a target is a quoted path, `stdout`, `stderr` or `env`');
  if (/\sto\s/.test(line)) return false;
  const value = look(new RegExp(`${word}\\s+((?:"[^"\\n]*"|'[^'\\n]*'|@[\\w.-]+)\\s+)(["'\`][^\\n\\];]*)`, 'y'), context);
  if (value) {
    const [whole, written = '', target = ''] = value;
    const place = target.trimEnd();
    fail(
      at + whole.length - target.length,
      `\`to\` is missing before the target of \`${word}\``,
      `write \`${word} ${written}to ${place}\``,
    );
  }
  fail(
    Math.max(furthest, at),
    `\`${word}\` needs \`to\` and a target`,
    `write \`${word} @value to ${text.includes('stdout') ? 'stdout' : '"file"'}\``,
  );
}

export function bareTarget(context: ErrorContext): never {
  const path = look(/[^\s\];]*/y, context)?.[0] ?? '';
  fail(context.at, `A target that begins with a variable needs quotes: \`${path}\``, `write \`"${path}"\``);
}

export function alias(context: ErrorContext): never {
  const name = look(/[A-Za-z_][\w-]*/y, context)?.[0] ?? 'name';
  fail(context.at, `An alias needs an at sign: \`as @${name}\``, `write \`as @${name}\``);
}

export function importStatement(context: ErrorContext): false {
  if (look(/import\s+(?:\w+\s+)?\{\s*\*\s*\}/y, context))
    fail(context.at, '`import { * }` needs a name', 'write `import { * as @name } from "…"`');
  if (look(/import\s+(?:\w+\s+)?\{\s*\}/y, context)) fail(context.at, '`import { }` names nothing');
  if (look(/import\s+(?:\w+\s+)?\{[^}]*\}\s*(?!from\b|\s)/y, context))
    fail(context.at, 'Expected `from` and a source after the names of `import`', 'write `import { @name } from "./file.mld"`');
  const bare = look(/import\s+(?:\{[^}]*\}\s*from\s+)?(?=\.{0,2}\/)/y, context);
  if (bare) {
    const path = look(/[^\s]*/y, { ...context, at: context.at + bare[0].length })?.[0];
    fail(context.at + bare[0].length, 'The path of an `import` is written in quotes', `write \`"${path}"\``);
  }
  const open = look(/import\s+(?:\{[^}]*\}\s*from\s+)?(?=(["'])(?:(?!\1)[^\n])*(?:\n|$))/y, context);
  if (open) fail(context.at + open[0].length, 'Unclosed string in `import`: the closing quote is missing');
  const whole = look(/import\s+\*\s+as\s+@?([A-Za-z_][\w-]*)/y, context)?.[1];
  if (whole) fail(context.at, '`import *` is written in braces', `write \`import { * as @${whole} } from "./file.mld"\``);
  if (look(/import\s+(?:mcp\b|(?:tools|\{[^}]*\})\s*from\s+mcp\b)/y, context)) toolsOfServer(context.at);
  const name = look(/import\s+([A-Za-z_][\w-]*)\s+(?:from|as)\b/y, context)?.[1];
  if (name)
    fail(
      context.at,
      'The names of an `import` are written in braces',
      `write \`import { @${name} } from "./file.mld"\`, or \`import "./file.mld" as @${name}\` for all of it`,
    );
  if (look(/import\s+tools\b/y, context)) toolsOfServer(context.at);
  if (look(/import\s+policy\b/y, context)) foreignStatement(context.at, 'policy');
  if (look(/import[ \t]*(?:\r?\n|$)/y, context))
    fail(context.at, '`import` needs names or a source', 'write `import { @name } from "./file.mld"`');
  return false;
}

function toolsOfServer(at: number): never {
  fail(at, 'Importing tools of a server is not part of this runtime', 'write a function with a client of it: `exe @tool(x) = cmd { … }`');
}

export function needsStatement(context: ErrorContext): false {
  const form = 'write `needs { sh, cmd: [git], node: [lodash] }`';
  const opening = look(/needs\s*\{/y, context);
  if (!opening) fail(context.at, '`needs` takes its list in braces', form);
  if (context.furthest >= context.text.trimEnd().length) fail(context.at, 'Unclosed `needs {`: the closing brace is missing', form);
  fail(
    Math.max(context.furthest, context.at + opening[0].length),
    `Unexpected ${describe(context.text, context.furthest).replace(/^the /, '')} in \`needs\``,
    form,
  );
}

export function exportStatement(context: ErrorContext): false {
  if (!look(/export\s*\{/y, context)) fail(context.at, '`export` takes a list of names', 'write `export { @name }`');
  return false;
}
