/**
 * The secrets of a run. A value is secret by its label; for texts without labels (error messages, a file that the script wrote and read
 * back) the run remembers the texts of the secrets that it met.
 *
 * SECRET-1  A value that is labelled `secret` is recorded as such, whatever is remembered here: these texts only ever hide more.
 * SECRET-2  The journal records of an error that comes from an operation with a secret in it only that it is withheld.
 */
import type { Json } from '../../../journal/event.js';
import { messageOf } from '../../errors.js';
import { isDataObject } from '../../values/plain-object.js';
import { LazyData, Annotated, type Value } from '../../values/value.js';
import { SecretFragments } from './secret-fragments.js';

export const SECRET = 'secret';
/** Replaces a secret. */
export const HIDDEN = '[secret]';
export const WITHHELD = 'withheld: a secret went into it';

/** UTF-16 units. Shorter texts are ordinary words; hiding them would hide everything. */
export const UNITS_MIN = 6;
/** From this length on a text without blanks does not occur by chance. */
const UNMISTAKABLE_UNITS_MIN = 16;
/** Only the first ones are remembered: the label decides (SECRET-1). */
const TEXTS_MAX = 1000;

export function isSecret(value: Value): boolean {
  return typeof value === 'object' && value instanceof Annotated && value.metadata.labels.includes(SECRET);
}

export class SecretRegistry {
  /** True while no text is known. A plain member, because it is asked for every fact and an accessor would be called each time. */
  isEmpty = true;
  private readonly known = new Set<string>();
  /** The known texts, plain and in JSON, a URL, base64 and hex, the longest first. Made at the first use. */
  private spellings: readonly string[] | undefined;
  /** Made when the first error is recorded. */
  private fragments: SecretFragments | undefined;
  private readonly tainted = new WeakSet<object>();

  /** Remembers the texts in a value. A large result in the journal is not read for it: sealed results are never searched. */
  add(value: Value): void {
    const rest: Value[] = [value];
    while (rest.length > 0 && this.known.size < TEXTS_MAX) {
      let next = rest.pop();
      if (next instanceof LazyData) continue;
      if (next instanceof Annotated) {
        if (next.text !== undefined) this.addText(next.text);
        next = next.data;
      }
      if (typeof next === 'string') this.addText(next);
      else if (typeof next === 'number') this.addText(String(next));
      else if (Array.isArray(next)) for (const element of next as readonly Value[]) rest.push(element);
      else if (isDataObject(next)) rest.push(...Object.values(next));
    }
  }

  /** Returns a text with marks in the place of the secrets in it. */
  redact(text: string): string {
    if (this.isEmpty) return text;
    let hidden = text;
    for (const spelling of this.all()) if (hidden.includes(spelling)) hidden = hidden.replaceAll(spelling, HIDDEN);
    return hidden;
  }

  /** Redacts an error message: pieces of secrets too, because a message may quote one cut off or encoded. */
  hideParts(text: string): string {
    if (this.isEmpty) return text;
    if (this.fragments === undefined) {
      this.fragments = new SecretFragments();
      for (const secret of this.known) this.fragments.add(secret);
    }
    return this.fragments.hide(this.redact(text), HIDDEN);
  }

  /** Returns a source with stars in the place of secrets, so that every other character keeps its offset. */
  blank(source: string): string {
    let blanked = source;
    for (const spelling of this.all())
      if (blanked.includes(spelling)) blanked = blanked.replaceAll(spelling, spelling.replaceAll(/[^\n]/g, '*'));
    return blanked;
  }

  appearIn(text: string): boolean {
    return this.all().some((spelling) => text.includes(spelling));
  }

  /** True when a value without labels holds a secret that can't be there by chance. */
  contains(value: Json): boolean {
    if (this.isEmpty) return false;
    const unmistakable = [...this.known].filter((text) => text.length >= UNMISTAKABLE_UNITS_MIN && !/\s/.test(text));
    return unmistakable.length > 0 && someText(value, (text) => unmistakable.some((secret) => text.includes(secret)));
  }

  /** SECRET-2 */
  taint(error: unknown): void {
    if (typeof error === 'object' && error !== null) this.tainted.add(error);
  }

  /** Returns the message of an error as it may be recorded. */
  messageOf(error: unknown): string {
    for (let cause = error; typeof cause === 'object' && cause !== null; cause = (cause as { cause?: unknown }).cause) {
      if (this.tainted.has(cause)) return WITHHELD;
    }
    return this.hideParts(messageOf(error));
  }

  private addText(text: string): void {
    for (const part of [text, ...(text.includes('\n') ? text.split('\n') : [])]) {
      const word = part.trim();
      if (word.length < UNITS_MIN || this.known.has(word) || this.known.size >= TEXTS_MAX) continue;
      this.known.add(word);
      this.isEmpty = false;
      this.fragments?.add(word);
      this.spellings = undefined;
    }
  }

  private all(): readonly string[] {
    this.spellings ??= [...new Set([...this.known].flatMap(spellingsOf))].sort((a, b) => b.length - a.length);
    return this.spellings;
  }
}

/** Returns plain data with marks in the place of the secrets in its texts; the value itself when no secret is known. */
export function concealed<T>(value: T, secrets: SecretRegistry): T {
  return secrets.isEmpty ? value : (concealedIn(value, secrets) as T); // of the same shape
}

function concealedIn(value: unknown, secrets: SecretRegistry): unknown {
  if (typeof value === 'string') return secrets.redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element) => concealedIn(element, secrets));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, concealedIn(member, secrets)]));
}

function spellingsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  return [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(bytes.toString()),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('hex'),
  ];
}

function someText(value: Json, test: (text: string) => boolean): boolean {
  if (typeof value === 'string') return test(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((member: Json) => someText(member, test));
}
