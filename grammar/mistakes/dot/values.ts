/** Explains mistakes in comments, strings and the values of attributes. */
import { describe, fail, look, type ErrorContext } from './error-context.js';

/** Called at `#`, or at a block comment that has no end. */
export function comment(context: ErrorContext): false {
  if (look(/#/y, context)) fail('dot_comment', context.at, '`#` does not begin a comment', 'write `// …` or `/* … */`');
  fail('dot_comment', context.at, 'The comment is not closed', 'end it with `*/`');
}

export function escape(context: ErrorContext): false {
  const written = look(/\\./suy, context)?.[0];
  if (written === undefined) return false; // the string ends with the file, which is the greater mistake
  fail('dot_string', context.at, `\`${written}\` is not an escape`, 'escapes are \\" \\\\ \\n and \\t; write a backslash as \\\\');
}

export function openString({ at }: ErrorContext): false {
  fail('dot_string', at, 'The string is not closed', 'end it with `"`; a quote inside it is written \\"');
}

/** Called directly behind a closing quote. */
export function behindString(context: ErrorContext): false {
  if (look(/\+/y, context))
    fail('dot_string', context.at, 'Strings are not joined with `+`', 'write one string; it may run over several lines');
  fail(
    'dot_value',
    context.at,
    `Expected a comma or a space after the string, found ${describe(context)}`,
    'a quote inside a string is written \\"',
  );
}

/** Called behind `=`. */
export function value(context: ErrorContext): false {
  const { at } = context;
  if (look(/</y, context)) fail('dot_html', at, 'HTML is not a value', 'write the text in double quotes');
  const written = look(/[^\s,;\]}"]+/y, context)?.[0];
  if (written === undefined)
    fail('dot_value', at, `Expected a value after \`=\`, found ${describe(context)}`, 'an empty text is written ""');
  const quoted = `text is written in double quotes: "${written}"`;
  if (/^[-+]?\d/.test(written)) {
    const hint = /[a-z]$/i.test(written)
      ? 'a duration is a whole number and one of ms, s, m, h, d: 90s; '
      : 'numbers are written 5, -3 or 0.5; ';
    fail('dot_value', at, `\`${written}\` is neither a number nor a duration`, hint + quoted);
  }
  fail('dot_value', at, `\`${written}\` is not a value`, quoted);
}
