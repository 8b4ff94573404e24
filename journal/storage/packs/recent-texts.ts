/**
 * Tells which payloads continue one that was given lately: the prompts and results of a conversation. Only such a payload is worth a place
 * in a pack where it would have one in its line. It is a guess about space alone: what is forgotten, or lost in a kill, makes the next text
 * of a conversation stand in its line.
 */

/** A conversation has two of them: what its calls get and what they return. */
const TEXTS_MAX = 64;

export class RecentTexts {
  /** Oldest first. */
  private readonly texts: string[] = [];

  /** True when at least half of the text is the beginning of a recent one. Remembers it in place of that one. */
  continues(text: string): boolean {
    const beginning = text.slice(0, Math.ceil(text.length / 2));
    const known = this.texts.findLastIndex((recent) => recent.startsWith(beginning));
    if (known >= 0) this.texts.splice(known, 1);
    else if (this.texts.length >= TEXTS_MAX) this.texts.shift();
    this.texts.push(text);
    return known >= 0;
  }
}
