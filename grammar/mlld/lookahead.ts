/**
 * Questions about the characters ahead that a grammar rule answers badly: what a bracket, a quote or a `<` in running
 * text is meant to be. Pure functions over the source text.
 */

/** Is `at` the first column of its line? */
export function atLineStart(text: string, at: number): boolean {
  return at === 0 || text[at - 1] === '\n';
}

/**
 * Does the quote that was just passed (it stands before `at`, behind `@x?`) open a conditional part, or does it close
 * the text? It closes when what follows can only stand outside of a text, as in `["@x?", "b"]`.
 */
export function isConditional(text: string, at: number, quote: '"' | '`'): boolean {
  if (matchAt(/[ \t]*(?:[,\])}|;\r\n]|$|>>|<<|=>|(?:with|to|as)\b)/y, text, at)) return false;
  for (let i = at; i < text.length && text[i] !== '\n'; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === quote) return true;
  }
  return false;
}

/** Begins the `#` at `at` a comment of the shell? It does where a word could begin. */
export function beginsShellComment(text: string, at: number): boolean {
  return /[\s;&|(){`]/.test(text[at - 1] ?? ' ');
}

/** The end of a tag with attributes or of an HTML comment that begins at `at`, else -1. Both are text as a whole. */
export function markup(text: string, at: number): number {
  const tag = matchAt(/<[A-Za-z][\w:-]*(?:[ \t]+[\w:@.-]+[ \t]*=[ \t]*(?:"[^"\n]*"|'[^'\n]*'))+[^<>\n]*>|<!--[^\n]*?-->/y, text, at);
  return tag ? at + tag[0].length : -1;
}

/** Does `<…>` at `at` look like a file? It closes on its line and holds `.`, `*` or `@`. */
export function isFile(text: string, at: number): boolean {
  return matchAt(/<(?![!\s<])[^<>\n`]*[.*@][^<>\n`]*>/y, text, at) !== null;
}

/** Is the line at `at` a row of a Markdown table? It begins and ends with a bar. */
export function isTableRow(text: string, at: number): boolean {
  return matchAt(/\|[^\n]*\|[ \t]*\r?(?:\n|$)/y, text, at) !== null;
}

/** Begins the bracket at `at`, behind an arrow, a block for certain? */
export function opensBlock(text: string, at: number): boolean {
  return (
    matchAt(
      /\[\s*(?:>>|<<|#|;|=>|\/[a-z]|@[A-Za-z_][\w-]*(?:\.[\w-]+)*\s*\+?=[^=]|(?:var|let|show|run|exe|if|when|for|loop|import|export|output|append|log|files?|stream|hook|guard|checkpoint|bail|done|continue|skip|retry|pass)(?![\w-]))/y,
      text,
      at,
    ) !== null
  );
}

/** Begins the bracket at `at`, behind an arrow, an array for certain? A reference may begin either. */
export function opensArray(text: string, at: number): boolean {
  return matchAt(/\[\s*[^\s@A-Za-z#;>]/y, text, at) !== null;
}

/** Is the bracket at `at`, as a bound value, a block? (values 3.4; everything else is an array) */
export function opensValueBlock(text: string, at: number): boolean {
  return matchAt(/\[(?:\s|>>[^\n]*\n|<<[^\n]*\n)*(?:(?:let|var)\s*[a-zA-Z@]|=>|@[A-Za-z_][\w-]*\s*\+=)/y, text, at) !== null;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
