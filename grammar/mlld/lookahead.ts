/**
 * Looks at the characters ahead where a grammar rule can't decide: what a bracket, a quote or a `<` in running text is
 * meant to be. Pure functions over the source text.
 */

/** True when `at` is the first column of its line. */
export function atLineStart(text: string, at: number): boolean {
  return at === 0 || text[at - 1] === '\n';
}

/**
 * True when the quote before `at`, behind `@x?`, opens a conditional part. Else it closes the text: what follows is possible only outside
 * of a text, and the next quote of the line stands where one opens, as in `["@x?", "b"]`, not where one closes, as in `"@x?", and @x""`.
 */
export function isConditional(text: string, at: number, quote: '"' | '`'): boolean {
  const next = quoteOnLine(text, at, quote);
  if (next < 0) return false;
  const isOutside = matchAt(/[ \t]*(?:[,\])}|;\r\n]|$|>>|<<|=>|(?:with|to|as)\b)/y, text, at) !== null;
  if (!isOutside) return true;
  // A text in double quotes ends on its line.
  return /[\w.!)\]}]/.test(text[next - 1] ?? '') && (quote === '`' || quoteOnLine(text, next + 1, quote) >= 0);
}

function quoteOnLine(text: string, from: number, quote: string): number {
  for (let i = from; i < text.length && text[i] !== '\n'; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === quote) return i;
  }
  return -1;
}

/** True when the `#` at `at` begins a comment of the shell, as it does where a word could begin. */
export function beginsShellComment(text: string, at: number): boolean {
  return /[\s;&|(){`]/.test(text[at - 1] ?? ' ');
}

/** Returns the end of a tag with attributes or of an HTML comment that begins at `at`, else -1. Both are plain text. */
export function markup(text: string, at: number): number {
  const tag = matchAt(/<[A-Za-z][\w:-]*(?:[ \t]+[\w:@.-]+[ \t]*=[ \t]*(?:"[^"\n]*"|'[^'\n]*'))+[^<>\n]*>|<!--[^\n]*?-->/y, text, at);
  return tag ? at + tag[0].length : -1;
}

/**
 * Returns the end of a fenced block of Markdown with the info string `mlld` whose marks begin at `at`, else -1. A fence that is not closed
 * reaches to the end of the text.
 */
export function mlldFence(text: string, at: number): number {
  const marks = matchAt(/(`{3,}|~{3,})[ \t]*mlld[ \t]*\r?(?:\n|$)/y, text, at);
  if (!marks || !/^ {0,3}$/.test(text.slice(text.lastIndexOf('\n', at) + 1, at))) return -1;
  const [opening, mark = ''] = marks;
  const closing = new RegExp(`^ {0,3}${mark.charAt(0)}{${mark.length},}[ \\t]*\\r?$`, 'gm');
  closing.lastIndex = at + opening.length;
  return closing.test(text) ? closing.lastIndex : text.length;
}

/** True when `<…>` at `at` looks like a file: it closes on its line and holds `.`, `*` or `@`. */
export function isFile(text: string, at: number): boolean {
  return matchAt(/<(?![!\s<])[^<>\n`]*[.*@][^<>\n`]*>/y, text, at) !== null;
}

/** True when the line at `at` is a row of a Markdown table: it begins and ends with a bar. */
export function isTableRow(text: string, at: number): boolean {
  return matchAt(/\|[^\n]*\|[ \t]*\r?(?:\n|$)/y, text, at) !== null;
}

/** True when the bracket at `at`, behind an arrow, certainly begins a block. */
export function opensBlock(text: string, at: number): boolean {
  return (
    matchAt(
      /\[\s*(?:>>|<<|#|;|=>|\/[a-z]|@[A-Za-z_][\w-]*(?:\.[\w-]+)*\s*\+?=[^=]|(?:var|let|show|run|exe|if|when|for|loop|import|export|output|append|log|files?|stream|hook|guard|checkpoint|bail|done|continue|skip|retry|pass)(?![\w-]))/y,
      text,
      at,
    ) !== null
  );
}

/** True when the bracket at `at`, behind an arrow, certainly begins an array. A reference may begin either. */
export function opensArray(text: string, at: number): boolean {
  return matchAt(/\[\s*[^\s@A-Za-z#;>]/y, text, at) !== null;
}

/** True when the bracket at `at`, as a bound value, is a block (values.md 3.4); everything else is an array. */
export function opensValueBlock(text: string, at: number): boolean {
  return matchAt(/\[(?:\s|>>[^\n]*\n|<<[^\n]*\n)*(?:(?:let|var)\s*[a-zA-Z@]|=>|@[A-Za-z_][\w-]*\s*\+=)/y, text, at) !== null;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
