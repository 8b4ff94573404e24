/** Turns the callbacks of a pipeline's run into an async iterator, for `for await`. graph-pipelines.md 11. */
import type { JournalEvent } from '../../../journal/event.js';
import type { PipelineReport, PipelineRunOptions } from './run-pipeline-options.js';

/** An event of the journal; or `checkpoint.saved`, which is not recorded: `checkpoint.json` was replaced. */
export type PipelineNotice = JournalEvent | { readonly type: 'checkpoint.saved' };

export interface WatchedPipeline {
  /** In order, each once; ends with the run. Notices wait until they are read. Leaving the loop drops them, and the run continues. */
  readonly notices: AsyncIterableIterator<PipelineNotice>;
  /** Rejects as `runGraph` does; the notices end then too. */
  readonly report: Promise<PipelineReport>;
}

type Callbacks = Required<Pick<PipelineRunOptions, 'onEvent' | 'onCheckpoint'>>;

export function watchRun(runGraph: (callbacks: Callbacks) => Promise<PipelineReport>): WatchedPipeline {
  const { notices, add, end } = queue<PipelineNotice>();
  const report = runGraph({ onEvent: add, onCheckpoint: () => add({ type: 'checkpoint.saved' }) }).finally(end);
  report.catch(() => undefined); // the caller gets the rejection
  return { notices, report };
}

function queue<T>(): { readonly notices: AsyncIterableIterator<T>; add(item: T): void; end(): void } {
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
    notices: taking(),
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
