/**
 * Tells which payloads continue one that was given lately: the prompts and results of a conversation. Only such a payload is worth a place
 * in a pack where it would have one in its line. It is a guess about space alone: what is forgotten, or lost in a kill, makes the next text
 * of a conversation stand in its line.
 */

/** A conversation has up to three of them: what its calls get and return, and what the code between them makes of that. */
const TEXTS_MAX = 300;
/** UTF-16 units of all texts. */
const UNITS_MAX = 8 * 1024 * 1024;

export class RecentTexts {
  /** Oldest first. */
  private readonly texts: string[] = [];
  private units = 0;

  /** True when at least half of the text is the beginning of a recent one. Remembers it in place of that one. */
  continues(text: string): boolean {
    const beginning = text.slice(0, Math.ceil(text.length / 2));
    const known = this.texts.findLastIndex((recent) => recent.startsWith(beginning));
    if (known >= 0) this.forget(known);
    this.texts.push(text);
    this.units += text.length;
    while (this.texts.length > TEXTS_MAX || this.units > UNITS_MAX) this.forget(0);
    return known >= 0;
  }

  private forget(place: number): void {
    const [text = ''] = this.texts.splice(place, 1);
    this.units -= text.length;
  }
}
