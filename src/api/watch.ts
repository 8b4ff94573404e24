/**
 * Starts a run and hands out what happens while it happens, for `for await`: the callbacks of a run as an iterator. graph-pipelines.md 11.
 */

export interface Watched<Item, Report> {
  /**
   * In order, each once; ends with the run. What is not taken yet is kept in memory. Leaving the loop ends the iterator and not the run:
   * that is what the `signal` of the request is for.
   */
  readonly events: AsyncIterableIterator<Item>;
  /** Rejects as the function does that only runs; the events end then too. */
  readonly report: Promise<Report>;
}

export function watch<Item, Report>(start: (add: (item: Item) => void) => Promise<Report>): Watched<Item, Report> {
  const { events, add, end } = queue<Item>();
  const report = start(add).finally(end);
  report.catch(() => undefined); // reported to the caller that awaits it
  return { events, report };
}

function queue<T>(): { readonly events: AsyncIterableIterator<T>; add(item: T): void; end(): void } {
  let kept: T[] = [];
  let isOpen = true;
  let wake = (): void => undefined;
  async function* taking(): AsyncGenerator<T, void, void> {
    try {
      for (;;) {
        const batch = kept;
        kept = [];
        yield* batch;
        if (kept.length > 0) continue;
        if (!isOpen) return;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      isOpen = false;
    }
  }
  return {
    events: taking(),
    add(item) {
      if (isOpen) kept.push(item);
      wake();
    },
    end() {
      isOpen = false;
      wake();
    },
  };
}
