/** Fits the texts of a page into it: all of them get the same limit, and only those beyond it are cut. */

/** The beginning of a text. */
export interface ShownText {
  readonly text: string;
  /** UTF-16 units that are only in the journal. */
  readonly more: number;
}

export function cutTo({ text, more }: ShownText, limit: number): ShownText {
  if (text.length <= limit) return { text, more };
  // Half a character would be shown as a replacement character.
  const end = /[\uD800-\uDBFF]/.test(text[limit - 1] ?? '') ? limit - 1 : limit;
  return { text: text.slice(0, end), more: more + text.length - end };
}

/** Returns the largest limit with which texts of these lengths take no more than `total` together; infinite where all of them fit. */
export function sharedLimit(lengths: readonly number[], total: number): number {
  const ascending = [...lengths].sort((left, right) => left - right);
  let rest = total;
  for (const [place, length] of ascending.entries()) {
    const share = Math.floor(rest / (ascending.length - place));
    if (length > share) return Math.max(share, 0);
    rest -= length;
  }
  return Number.POSITIVE_INFINITY;
}
