/**
 * Finds pieces of secrets in error messages. A message may quote a secret cut off, escaped or encoded, so that it does not have the whole
 * secret in it.
 *
 * A filter of hashes excludes the pieces that no secret has; only the others are searched for in the secrets. So a message costs its own
 * length, and a secret is read once.
 */

/** UTF-16 units. */
const PIECE_UNITS = 8;
/** The limit for all spellings together. Secrets beyond it are hidden only as a whole. */
const SPELLED_UNITS_MAX = 4 * 1024 * 1024;
/** A power of two; far more than the pieces of a few tokens. */
const FILTER_BITS = 1 << 22;

const FACTOR = 0x01000193;
/** The factor of the unit that leaves the piece. */
const FACTOR_OF_FIRST = Array.from({ length: PIECE_UNITS - 1 }).reduce((power: number) => Math.imul(power, FACTOR), 1);

export class SecretFragments {
  private readonly filter = new Uint32Array(FILTER_BITS / 32);
  private readonly spellings: string[] = [];
  private units = 0;

  add(secret: string): void {
    for (const spelling of new Set(spellingsOf(secret))) {
      if (spelling.length < PIECE_UNITS || this.units + spelling.length > SPELLED_UNITS_MAX) continue;
      this.units += spelling.length;
      this.spellings.push(spelling);
      eachPiece(spelling, (hash) => {
        this.filter[hash >>> 5] = (this.filter[hash >>> 5] ?? 0) | (1 << (hash & 31));
      });
    }
  }

  /** Returns the text with a mark in the place of each stretch that is part of a secret. */
  hide(text: string, mark: string): string {
    if (text.length < PIECE_UNITS || this.spellings.length === 0) return text;
    let shown = '';
    let shownTo = 0;
    let hiddenTo = -1;
    eachPiece(text, (hash, at) => {
      if (((this.filter[hash >>> 5] ?? 0) & (1 << (hash & 31))) === 0 || !this.isPart(text.slice(at, at + PIECE_UNITS))) return;
      if (at > hiddenTo) shown += text.slice(shownTo, at) + mark; // else the stretch continues
      hiddenTo = at + PIECE_UNITS;
      shownTo = hiddenTo;
    });
    return shown + text.slice(shownTo);
  }

  /** Pieces without a letter or digit, such as blanks and rules, are in every text. */
  private isPart(piece: string): boolean {
    return /[\p{L}\p{N}]/u.test(piece) && this.spellings.some((spelling) => spelling.includes(piece));
  }
}

/** A rolling hash. */
function eachPiece(text: string, look: (hash: number, at: number) => void): void {
  let hash = 0;
  for (let i = 0; i < text.length; i++) {
    if (i >= PIECE_UNITS) hash = (hash - Math.imul(text.charCodeAt(i - PIECE_UNITS), FACTOR_OF_FIRST)) | 0;
    hash = (Math.imul(hash, FACTOR) + text.charCodeAt(i)) | 0;
    if (i >= PIECE_UNITS - 1) look((hash ^ (hash >>> 15)) & (FILTER_BITS - 1), i - PIECE_UNITS + 1);
  }
}

/** Returns it unchanged, in JSON, in a URL, in base64 at each offset in the encoded text, and in hex. */
function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = [0, 1, 2].map((before) => withoutNeighbours(Buffer.concat([Buffer.alloc(before), bytes]), before));
  const forUrls = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(bytes.toString()), ...base64, ...forUrls, bytes.toString('hex')];
}

/** Leaves out the characters of base64 that also encode neighbouring bytes. */
function withoutNeighbours(bytes: Buffer, before: number): string {
  const whole = Math.floor((bytes.length * 8) / 6);
  return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), whole);
}
