/** Keeps the end of a run that is not known to be durable, so that it can be written again: whole lines, in pieces as they were written. */
import { CHAIN_SEED } from '../codec.js';

export interface Piece {
  /** Counted from the beginning of the run. */
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** The hash of its last line. */
  readonly hash: string;
}

export class Unsynced {
  private pieces: Piece[] = [];
  private last: number;

  /** `first` is the offset at which it begins, `hash` that of the line which ends there. */
  constructor(
    private first = 0,
    private hash = CHAIN_SEED,
  ) {
    this.last = first;
  }

  /** The offset before which everything is durable. */
  get start(): number {
    return this.first;
  }

  get end(): number {
    return this.last;
  }

  /** The hash of the line that ends at `start`. */
  get hashBefore(): string {
    return this.hash;
  }

  /** `hash` is that of the last line. The lines are not copied, so they must not be changed until they are durable. */
  add(bytes: Uint8Array, hash: string): void {
    this.pieces.push({ offset: this.last, bytes, hash });
    this.last += bytes.length;
  }

  /** Returns the pieces that begin at `offset` or behind it. */
  from(offset: number): readonly Piece[] {
    let index = this.pieces.length;
    while (index > 0 && (this.pieces[index - 1] as Piece).offset >= offset) index--;
    return this.pieces.slice(index);
  }

  /** Forgets everything before `offset`, where a piece ends: it is durable. Returns the last lines of it, if any. */
  synced(offset: number): Uint8Array | undefined {
    if (offset === this.first) return undefined;
    const kept = this.from(offset);
    const durable = this.pieces[this.pieces.length - kept.length - 1] as Piece; // `offset` is behind its beginning
    this.hash = durable.hash;
    this.pieces = kept as Piece[];
    this.first = offset;
    return durable.bytes;
  }
}
