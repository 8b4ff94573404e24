/**
 * Writes a long text as JSON. V8 takes as long for that as for all the rest of a line of the journal, because it looks at each character
 * by itself and at its room in the result. A search of V8 takes a fraction of that, and so does this for a text without quotes; one of
 * code or JSON is left to V8, which takes a third of what it would take to replace so many characters.
 */

/** Everything that JSON escapes but quotes, backslashes and newlines, and also pairs of surrogates, which it doesn't. */
const ESCAPED = /[\u0000-\u0009\u000b-\u001f\ud800-\udfff]/;

/** Returns what `JSON.stringify` does. */
export function jsonText(text: string): string {
  if (text.includes('"') || text.includes('\\') || ESCAPED.test(text)) return JSON.stringify(text);
  return `"${text.includes('\n') ? text.replaceAll('\n', '\\n') : text}"`;
}
