/**
 * Opens the pages of runs for those who watch. A page is a fold of the whole journal of a run, so its watchers share one.
 *
 * LIVE-1 A page is read anew only when its journal has grown, or the run has ended.
 * LIVE-2 After a page has been read its run rests for three times as long: of a large run there are fewer pages, and the run has priority.
 */
import type { RunId } from '../../journal/ids.js';
import type { JournalStore, RunFile } from '../../journal/store.js';
import { followPage, type OpenPage, type PageOptions, type PipelineRun } from '../api/pipeline-runs.js';

export interface LivePagesOptions {
  readonly store: JournalStore;
  readonly stepsOf: PageOptions['stepsOf'];
  readonly monotonicMs: () => number;
}

export interface LivePages {
  /** Opens the page of the latest run of a logical run. */
  open(run: Pick<PipelineRun, 'logicalRun' | 'latest' | 'status'>): Promise<OpenPage>;
  /** Opens the page of a run of any workflow. */
  openRun(run: RunFile): Promise<OpenPage>;
}

const KEPT_MAX = 8;
const REST_FACTOR = 3;

interface KeptPage {
  readonly of: string;
  readonly page: Promise<OpenPage>;
}

export function createLivePages({ store, stepsOf, monotonicMs }: LivePagesOptions): LivePages {
  const kept = new Map<RunId, KeptPage>();

  async function read(latest: RunFile, before: Promise<unknown>): Promise<{ page: OpenPage; rest: Promise<void> }> {
    await before;
    const sinceMs = monotonicMs();
    const page = await followPage(store, latest, stepsOf);
    const tookMs = monotonicMs() - sinceMs;
    return { page, rest: new Promise((resolve) => setTimeout(resolve, tookMs * REST_FACTOR).unref()) };
  }

  const resting = new Map<RunId, Promise<unknown>>();
  function open(id: RunId, latest: RunFile, status: string): Promise<OpenPage> {
    const { ref, bytes, liveness } = latest;
    const of = `${ref.run} ${bytes} ${liveness} ${status}`;
    const known = kept.get(id);
    if (known?.of === of) return known.page;
    const reading = read(latest, resting.get(id) ?? Promise.resolve());
    const rested = reading.then(({ rest }) => rest).catch(() => undefined);
    resting.set(id, rested);
    void rested.then(() => {
      if (resting.get(id) === rested) resting.delete(id);
    });
    const page = reading.then(({ page: opened }) => opened);
    kept.delete(id);
    kept.set(id, { of, page });
    const oldest = kept.size > KEPT_MAX ? [...kept.keys()][0] : undefined;
    if (oldest !== undefined) kept.delete(oldest);
    page.catch(() => kept.delete(id));
    return page;
  }

  return {
    open: ({ logicalRun, latest, status }) => open(logicalRun.id, latest, status.status),
    openRun: (run) => open(run.ref.run, run, ''),
  };
}
