/**
 * Finds pieces of secrets in texts about errors. A message may quote a secret cut off, escaped or encoded, so that no whole secret is in it.
 *
 * A filter of hashes tells the pieces that no secret has; what it lets pass is looked for in the secrets. So a message costs its own length,
 * and a secret is looked at once.
 */

/** UTF-16 units. */
const PIECE_UNITS = 8;
/** Of all spellings together. Beyond that secrets are hidden where they stand whole. */
const SPELLED_UNITS_MAX = 4 * 1024 * 1024;
/** A power of two; far more than the pieces of a few tokens. */
const FILTER_BITS = 1 << 22;

const FACTOR = 0x01000193;
/** Of the unit that leaves the piece. */
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

  /** The text with a mark in the place of each stretch that is part of a secret. */
  hide(text: string, mark: string): string {
    if (text.length < PIECE_UNITS || this.spellings.length === 0) return text;
    let shown = '';
    let shownTo = 0;
    let hiddenTo = -1;
    eachPiece(text, (hash, at) => {
      if (((this.filter[hash >>> 5] ?? 0) & (1 << (hash & 31))) === 0 || !this.isPart(text.slice(at, at + PIECE_UNITS))) return;
      if (at > hiddenTo) shown += text.slice(shownTo, at) + mark; // else the stretch goes on
      hiddenTo = at + PIECE_UNITS;
      shownTo = hiddenTo;
    });
    return shown + text.slice(shownTo);
  }

  /** Blanks and rules are parts of every text. */
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

/** As it is, in JSON, in a URL, in base64 wherever it begins in what is encoded, in hex. */
function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = [0, 1, 2].map((before) => withoutNeighbours(Buffer.concat([Buffer.alloc(before), bytes]), before));
  const forUrls = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(bytes.toString()), ...base64, ...forUrls, bytes.toString('hex')];
}

/** Characters of base64 that neighbours have a part in are left out. */
function withoutNeighbours(bytes: Buffer, before: number): string {
  const whole = Math.floor((bytes.length * 8) / 6);
  return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), whole);
}
