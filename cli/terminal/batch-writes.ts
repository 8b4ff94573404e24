/** Collects the lines of a long report into large writes: one write per line takes longer than reading the journal. */
export interface Lines {
  add(text: string): void;
  end(): void;
}

const BATCH_UNITS = 64 * 1024;

export function batchWrites(write: (text: string) => void): Lines {
  let pending = '';
  const end = (): void => {
    if (pending !== '') write(pending);
    pending = '';
  };
  return {
    add(text) {
      pending += text;
      if (pending.length >= BATCH_UNITS) end();
    },
    end,
  };
}
