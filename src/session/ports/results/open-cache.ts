/** Builds the result cache of a run from the memos of its workflow and fork sources. */
import type { Claims } from '../../../../journal/storage/claims.js';
import type { CacheFlags } from '../../../../journal/facts/run-event.js';
import type { OpPath, RunRef, Workflow } from '../../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../../journal/store.js';
import { createOverlay } from '../../../../replay/memo/overlay.js';
import { loadRevocations } from '../../../../replay/memo/revocations.js';
import { loadInnerResults } from '../../../../replay/workflows/inner-results.js';
import type { ResumeMode } from '../../../../replay/memo/policy.js';
import { DEFAULT_CALL_SETTINGS } from '../../../calls/options.js';
import type { PipelineRecord, RunOptions } from '../../script/run-options.js';
import type { RunTeamResults } from '../claims/team-results.js';
import type { WorkersParts } from '../offers/workers-of-run.js';
import { createOtherKeyWarning, type JournalWarnings } from '../journal-warnings.js';
import { RunCallFiles } from '../files/call-files.js';
import { createOutputFiles } from '../files/output-files.js';
import type { OpenedPriorRuns } from '../prior-runs.js';
import { createRunCache, type ResultInside, type RunCache } from './result-cache.js';
import { retryingStore } from './retrying-store.js';

interface CacheParts {
  readonly options: Pick<RunOptions, 'io' | 'cache' | 'project' | 'journalWaitMs' | 'pipeline'>;
  readonly header: ResumeMode | undefined;
  readonly ref: RunRef;
  readonly store: JournalStore;
  /** Present in the store of a team. */
  readonly claims: Claims | undefined;
  /** Present where workers execute calls of the run. */
  readonly workers: WorkersParts | undefined;
  /** Aborted when the run must stop. */
  readonly signal: AbortSignal;
  /** If false, `store` refuses to write, and waiting for it is useless. */
  readonly isRecorded: boolean;
  readonly prior: OpenedPriorRuns;
  readonly warnings: JournalWarnings;
  /** No call is made any more, so nothing is worth waiting for. */
  readonly hasStopped: () => boolean;
  /** Called when a result could not be stored in the time there is. */
  readonly onLost: (error: Error) => void;
}

export async function openCache({
  options,
  header,
  ref,
  store,
  claims,
  workers,
  signal,
  isRecorded,
  prior,
  warnings,
  hasStopped,
  onLost,
}: CacheParts): Promise<RunCache> {
  const { io, cache: flags, project, journalWaitMs } = options;
  const { usable, forks } = prior;
  const onTrouble = (error: Error): void => warnings.error(error);
  const overlay = createOverlay({
    run: ref.run,
    own: usable.memo,
    definitions: usable.definitions,
    complete: usable.complete,
    forks,
    changed: flags.changed,
  });
  const memos = [...forks.map(({ memo }) => memo), usable.memo];
  const patience = { waitMs: journalWaitMs ?? claims?.waitMs, monotonicMs: io.monotonicMs, onOutage: warnings.outage };
  const retrying = isRecorded ? retryingStore(store, { ...patience, hasGivenUp: hasStopped, onGivenUp: onLost }) : store;
  const patient =
    claims &&
    retryingStore(store, {
      ...patience,
      hasGivenUp: () => signal.aborted || hasStopped(),
      onGivenUp: (error) => signal.aborted || onLost(error),
    });
  const workflows = [ref.workflow, ...forks.map(({ workflow }) => workflow)];
  const team = claims && (await import('../claims/team-results.js')).RunTeamResults;
  const offering = workers && (await import('../offers/offered-calls.js')).OfferedCalls;
  let results: RunTeamResults | undefined;
  return createRunCache({
    team:
      team &&
      ((reusesAll) =>
        (results = new team({
          claims,
          store,
          workflow: ref.workflow,
          prior: prior.loaded,
          reusesAll,
          signal,
          hasStopped,
          monotonicMs: io.monotonicMs,
          stderr: io.stderr,
          onOutage: warnings.outage,
          onLost,
        }))),
    offers:
      offering &&
      ((cache) => {
        if (results === undefined) throw new Error('offers of a run without claims');
        const team = results;
        return new offering({
          ...workers,
          ...cache,
          team,
          workflow: ref.workflow,
          mustStop: () => team.mustStop(),
          signal,
          monotonicMs: io.monotonicMs,
          stderr: io.stderr,
        });
      }),
    store,
    retrying,
    patient,
    root: project.root,
    secrets: await store.knownSecrets().catch(() => undefined),
    onOtherKey: createOtherKeyWarning({ store, ref, memos, stderr: io.stderr }),
    ref,
    overlay,
    inside: options.pipeline ? insideStages(store, ref.workflow, options.pipeline.inside) : insideAgents(store, usable.runs, flags),
    flags,
    header,
    nowMs: io.nowMs,
    callFiles: new RunCallFiles({
      store: retrying,
      root: project.root,
      settings: project.config.calls?.files ?? DEFAULT_CALL_SETTINGS.files,
      isRecorded,
      onTrouble,
      warn: (message) => io.stderr(`warning: ${message}\n`),
    }),
    files: createOutputFiles({ store: retrying, workflows, keepsNewer: flags.keepFiles === true, onTrouble }),
    onTrouble,
    onGap: warnings.gap,
    onUnreadable: warnings.unreadable,
  });
}

/** The state of a pipeline knows nothing of marks: they are in runs of their own. */
function insideStages(
  store: JournalStore,
  workflow: Workflow,
  inside: PipelineRecord['inside'],
): (op: OpPath) => Promise<ResultInside | undefined> {
  let loading: ReturnType<typeof loadRevocations> | undefined;
  return async (op) => {
    const found = inside(op);
    return found && !(await (loading ??= loadRevocations(store, workflow)))(found.key, found.result) ? found : undefined;
  };
}

/** A target asks for calls again, and says nothing of those that have no result yet. Another attempt makes its calls anew. */
function insideAgents(
  store: JournalStore,
  runs: readonly RunFile[],
  { resume = '' }: CacheFlags,
): (op: OpPath) => Promise<ResultInside | undefined> {
  if (resume !== '' && resume !== 'failed') return async () => undefined;
  let loading: ReturnType<typeof loadInnerResults> | undefined;
  return async (op) => {
    const results = await (loading ??= loadInnerResults(store, runs));
    const found = results.get(op);
    return found && { ...found, used: () => void results.delete(op) };
  };
}
