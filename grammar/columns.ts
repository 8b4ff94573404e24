/** Measures and cuts texts as a screen shows them. */

const PLAIN = /^[\x20-\x7E]*$/;
/** Characters that a terminal draws two columns wide: those of East Asia, and emoji, also those that a selector makes one. */
const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|[\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}|\uFE0F/u;
/** Characters that have no width of their own. */
const NO_WIDTH = /^[\p{M}\p{Cf}]*$/u;

/** Counts columns. A character that is drawn as one counts once, however many code points it has. Tabs and controls count as one. */
export function columnsOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of graphemes().segment(text)) columns += WIDE.test(segment) ? 2 : NO_WIDTH.test(segment) ? 0 : 1;
  return columns;
}

/** Returns the beginning of a text, at most so many UTF-16 units long, that ends behind a whole character. */
export function wholeCharacters(text: string, units: number): string {
  if (units >= text.length) return text;
  const cut = text.slice(0, units);
  if (PLAIN.test(cut) && PLAIN.test(text.charAt(units))) return cut;
  return text.slice(0, graphemes().segment(text).containing(units)?.index);
}

function graphemes(): Intl.Segmenter {
  return new Intl.Segmenter('en', { granularity: 'grapheme' });
}
