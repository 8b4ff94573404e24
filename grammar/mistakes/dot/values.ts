/** Comments, strings and the values of attributes. */
import { describe, fail, look, type ErrorContext } from './error-context.js';

/** At `#`, or at a block comment that has no end. */
export function comment(spot: ErrorContext): false {
  if (look(/#/y, spot)) fail('dot_comment', spot.at, '`#` does not begin a comment', 'write `// …` or `/* … */`');
  fail('dot_comment', spot.at, 'The comment is not closed', 'end it with `*/`');
}

export function escape(spot: ErrorContext): false {
  const written = look(/\\./suy, spot)?.[0];
  if (written === undefined) return false; // the string ends with the file, which is the greater mistake
  fail('dot_string', spot.at, `\`${written}\` is no escape`, 'escapes are \\" \\\\ \\n and \\t; write a backslash as \\\\');
}

export function openString({ at }: ErrorContext): false {
  fail('dot_string', at, 'The string is not closed', 'end it with `"`; a quote inside it is written \\"');
}

/** Right behind a closing quote. */
export function behindString(spot: ErrorContext): false {
  if (look(/\+/y, spot)) fail('dot_string', spot.at, 'Strings are not joined with `+`', 'write one string; it may run over several lines');
  fail(
    'dot_value',
    spot.at,
    `Expected a comma or a blank behind the string, found ${describe(spot)}`,
    'a quote inside a string is written \\"',
  );
}

/** Behind `=`. */
export function value(spot: ErrorContext): false {
  const { at } = spot;
  if (look(/</y, spot)) fail('dot_html', at, 'HTML is no value', 'write the text in double quotes');
  const written = look(/[^\s,;\]}"]+/y, spot)?.[0];
  if (written === undefined) fail('dot_value', at, `Expected a value behind \`=\`, found ${describe(spot)}`, 'an empty text is written ""');
  const quoted = `text is written in double quotes: "${written}"`;
  if (/^[-+]?\d/.test(written)) {
    const hint = /[a-z]$/i.test(written)
      ? 'a duration is a whole number and one of ms, s, m, h, d: 90s; '
      : 'numbers are written 5, -3 or 0.5; ';
    fail('dot_value', at, `\`${written}\` is neither a number nor a duration`, hint + quoted);
  }
  fail('dot_value', at, `\`${written}\` is no value`, quoted);
}
