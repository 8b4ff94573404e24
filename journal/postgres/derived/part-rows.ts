/** Cuts the content of a part of an index into rows, and lets the disk and the database take the same ones. */

/** Yields the content of all pieces in rows of this size; the last one may be smaller. There is always one. */
export function* inRows(pieces: Iterable<Uint8Array>, rowBytes: number): Generator<Buffer> {
  let row = Buffer.allocUnsafe(rowBytes);
  let filled = 0;
  let isFirst = true;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length;) {
      const taken = piece.subarray(from, from + rowBytes - filled);
      row.set(taken, filled);
      filled += taken.length;
      from += taken.length;
      if (filled < rowBytes) continue;
      yield row;
      row = Buffer.allocUnsafe(rowBytes); // the one before may still be on its way
      filled = 0;
      isFirst = false;
    }
  }
  if (filled > 0 || isFirst) yield row.subarray(0, filled);
}

export interface FollowedRows {
  /** May be left before its end without ending the rows. */
  readonly each: AsyncIterable<Uint8Array>;
  /** Is set when a row could not be read or stored. */
  readonly error: unknown;
  /** Takes the rows that were left. Throws what the rows do, also again. */
  toEnd(): Promise<void>;
}

/** Distinguishes a failure of the rows from one of who takes them: a disk that is full does not keep the database from the other rows. */
export function followed(rows: AsyncGenerator<Uint8Array>): FollowedRows {
  let error: unknown;
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    try {
      return await rows.next();
    } catch (thrown) {
      error = thrown;
      throw thrown;
    }
  };
  return {
    each: { [Symbol.asyncIterator]: () => ({ next }) },
    get error() {
      return error;
    },
    async toEnd() {
      if (error !== undefined) throw error;
      while ((await next()).done !== true);
    },
  };
}
