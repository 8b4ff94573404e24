/** Decides whether workers execute calls of a run, and gathers what their offers need of it. team-store.md 7. */
import type { Journal, JournalStore } from '../../../../journal/store.js';
import { MlldError } from '../../../errors.js';
import type { CallRuntime } from '../../../runtime/calls/call-runtime.js';
import type { OfferedSource } from '../../../runtime/calls/offered-call.js';
import type { RunOptions } from '../../script/run-options.js';
import type { Follower, RunRecorder } from '../recorder.js';
import type { OfferPorts } from './offered-calls.js';

export type WorkersParts = Pick<OfferPorts, 'offers' | 'request' | 'sources' | 'budgets' | 'record' | 'onAtWorkers' | 'dispatch'>;

interface Run {
  readonly options: Pick<RunOptions, 'workers' | 'onAtWorkers'>;
  readonly journal: Journal | undefined;
  readonly calls: Pick<CallRuntime, 'settings' | 'dispatcher'>;
  readonly sources: readonly OfferedSource[];
  readonly recorder: Pick<RunRecorder, 'post'>;
}

/** Throws WORKERS. Called before the run begins. `store` is undefined for a run that is not recorded. */
export function refuseWorkers({ workers }: Pick<RunOptions, 'workers'>, store: JournalStore | undefined): void {
  if (!workers || (store && 'workers' in store)) return;
  if (!store) {
    throw new MlldError('WORKERS', '--workers: this run is not recorded, so no worker can find its calls', {
      hint: 'run it with --checkpoint; without --workers it makes its calls itself',
    });
  }
  throw new MlldError('WORKERS', '--workers: the runs of this project are kept in files, where no worker finds them', {
    hint: 'workers need the store of a team (docs/team.md); without --workers this run makes its calls itself',
  });
}

/** Returns the sources that the run has read up to now. It grows. */
export function offeredSources({ workers }: Pick<RunOptions, 'workers'>, followers: Follower[]): readonly OfferedSource[] {
  const sources: OfferedSource[] = [];
  if (!workers) return sources;
  followers.push((event) => {
    if (event.type !== 'source.loaded') return;
    const { path, blob, whole } = event;
    sources.push({ path, blob, ...(whole && { whole }) });
  });
  return sources;
}

/** Undefined where the run executes its calls itself. */
export function workersOf({ options: { workers, onAtWorkers }, journal, calls, sources, recorder }: Run): WorkersParts | undefined {
  const offers = journal?.offers;
  if (!workers || !offers) return undefined;
  const { shared, ...own } = calls.settings.budget ?? {};
  const budgets = Object.values(own).every((limit) => limit === undefined) ? (shared ?? []) : undefined;
  return {
    offers,
    request: workers,
    sources: () => sources,
    budgets,
    dispatch: calls.dispatcher,
    record: (fact) => void recorder.post(fact),
    onAtWorkers,
  };
}
