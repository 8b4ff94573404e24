/**
 * Starts to record a run: appends its first facts, and connects its journal with all that follows it, learns from it or reuses of it.
 *
 * SESSION-1  `run.started` is the first event, and what must not be reused is invalidated right behind it, before the first lookup.
 * SESSION-2  This run reuses no invalidated result even if the disk did not take the event.
 */
import type { Script } from '../../../grammar/ast.js';
import { runIdAt, seqOf, type Position, type RunId, type RunRef } from '../../../journal/ids.js';
import type { Journal, JournalStore } from '../../../journal/store.js';
import { eventOf } from '../../../replay/fold/projection.js';
import { concurrentRuns, followIndex, saveIndex } from '../../../replay/memo/load.js';
import { summary, type RunSummary } from '../../../replay/reports/summary/summary.js';
import { laneWait } from '../pause-error.js';
import { recordedCallSettings } from '../script/call-settings.js';
import { learnedPace } from '../script/learned-pace.js';
import { openSharedLanes } from '../script/limits/shared-lanes.js';
import { inputFacts } from '../script/run-inputs.js';
import type { RunOptions } from '../script/run-options.js';
import { openSharedBudgets } from '../script/shared-budgets.js';
import { concealFact } from './conceal.js';
import { changedFilesWarnings } from './files/changed-files.js';
import { splitInvalidation } from './fit-facts.js';
import { unkeptNotice, type JournalWarnings } from './journal-warnings.js';
import { offeredSources, workersOf } from './offers/workers-of-run.js';
import type { JournalPorts, OpenedJournal } from './opened-journal.js';
import type { OpenedPriorRuns } from './prior-runs.js';
import { createRecorder, isOfOneFact, type Follower, type RunRecorder } from './recorder.js';
import { openCache } from './results/open-cache.js';
import { staleHitWarnings } from './results/stale-hits.js';
import { createTotalsCounter, type TotalsCounter } from './run-totals.js';
import { runTrace, traceparentWarning } from './run-trace.js';
import { startedFact } from './started-fact.js';
import { countingRecorder } from './unrecorded-run.js';

/** Set when the recorder is there: nothing is added before. */
export interface AddedFacts {
  follow: RunRecorder['followAdded'];
}

/** A run whose journal is created, or could not be. */
export interface BegunRun {
  readonly options: RunOptions;
  readonly script: Script;
  readonly store: JournalStore;
  readonly warnings: JournalWarnings;
  /** Called when nothing can be recorded any more: pauses the run before its next call. */
  readonly onLost: (error: Error, remains?: string) => void;
  readonly added: AddedFacts;
  readonly ports: JournalPorts;
  readonly prior: OpenedPriorRuns;
  readonly settled: readonly RunId[];
  /** Undefined when the run could not be created; `store` then refuses to write. */
  readonly journal: Journal | undefined;
}

export async function startRecording(run: BegunRun): Promise<OpenedJournal> {
  const { options, store, prior, journal, ports } = run;
  const { usable, forks } = prior;
  const ref = journal?.ref ?? { workflow: prior.loaded.workflow, run: runIdAt(0, '0000') }; // no journal holds it
  const state = summary.initial();
  const counter = createTotalsCounter(state.ledger);
  const followIntoMemo = followIndex(usable, ref);
  const { onProgress, onEvent, pipeline } = options;
  const followers: Follower[] = [followIntoMemo, onProgress ? summaryFollower(onProgress, state, ref) : counter.follow];
  if (journal?.claims) followers.push(counter.followTeam);
  if (onEvent) followers.push((event) => onEvent(event));
  if (pipeline) followers.push(...pipeline.followers);
  const sources = offeredSources(options, followers);
  const recorder = journal ? recorderOf(run, journal, { followers, count: counter.count }) : countingRecorder(counter, options, ref);
  run.added.follow = (fact, recorded) => recorder.followAdded(fact, recorded);
  const started = recorder.on ? await recordStart(run, ref, recorder) : undefined;
  if (journal) openSharedBudgets(ports.calls, store, ref);
  ports.signal.addEventListener('abort', () => journal?.hurry?.(), { once: true });
  const redact = (text: string): string => ports.secrets.redact(text);
  const sharing = journal && (await openSharedLanes({ store, run: ref, io: options.io, redact }));
  ports.calls.dispatcher.open({
    record: (fact) => recorder.post(concealFact(fact, ports.secrets)), // a recorder that only counts conceals nothing
    isWriting: () => recorder.isWriting(),
    waits: (lane, untilMs, why) =>
      options.io.stderr(laneWait({ lane: redact(lane), untilMs, why, nowMs: options.io.nowMs(), isRecorded: journal !== undefined })),
    sharing,
    async learn() {
      const nowMs = options.io.nowMs();
      const reserves = ports.calls.settings.budget !== undefined;
      const learned = await learnedPace(store, ref.workflow, { current: journal?.ref, nowMs, listed: usable.runs, reserves });
      const ofForks = forks.map(({ workflow }) => learnedPace(store, workflow, { current: undefined, nowMs }));
      // Lanes and costs of fork sources are another script's; a session is the same one.
      for (const { sessions = [] } of [learned, ...(await Promise.all(ofForks))]) {
        for (const [session, totalUsd] of sessions) ports.calls.sessions.add(session, totalUsd);
      }
      return learned;
    },
  });
  await recordInvalidations(run, { ref, recorder, followIntoMemo });
  const cache = await openCache({
    options,
    header: run.script.resume,
    ref,
    store,
    claims: journal?.claims,
    workers: workersOf({ options, journal, calls: ports.calls, sources, recorder }),
    signal: ports.signal,
    isRecorded: journal !== undefined,
    prior,
    warnings: run.warnings,
    hasStopped: () => ports.calls.dispatcher.stoppedBy?.class === 'journal',
    onLost: run.onLost,
  });
  let isRestarted = false;
  return {
    unrecorded: undefined,
    recorder,
    started: Promise.resolve(started?.recorded).then(() => undefined),
    trace: recorder.on ? runTrace(options.environment, ref) : undefined,
    cache,
    ref: journal && ref,
    prior,
    restarts(node) {
      isRestarted = true;
      counter.restarts(node);
    },
    totals: counter.totals,
    calls: counter.calls,
    // An error is reported by the append that waits for its own fact.
    flush: async () => journal?.flush().catch(() => undefined),
    async finish(fact) {
      const recorded = await recorder.append(fact);
      const state = await recorder.close();
      if (state === 'regained') options.io.stderr('the journal could be written at the end of the run: what was held back is recorded\n');
      // Another process may record the end of a run that was taken: the warning that it was sealed is what there is to say.
      if (state === 'lost' && ports.calls.dispatcher.stoppedBy?.endsRun !== true)
        options.io.stderr('the end of this run could not be recorded: it is listed as crashed, and --resume continues it\n');
      // The index may be missing at any time.
      if (recorded && state === 'kept') await saveIndex(usable, ref.run, recorded).catch(() => undefined);
    },
    notices() {
      const unkept = unkeptNotice(cache.unkeptCount());
      return [
        ...staleHitWarnings(cache, [usable, ...forks], { ...options, isRestarted }),
        ...changedFilesWarnings(cache.changedFiles()),
        ...(unkept === undefined ? [] : [unkept]),
      ];
    },
  };
}

function recorderOf(
  { ports, warnings, onLost }: BegunRun,
  journal: Journal,
  listeners: { readonly followers: readonly Follower[]; readonly count: TotalsCounter['count'] },
): RunRecorder {
  return createRecorder(journal, {
    secrets: ports.secrets,
    ...listeners,
    onTrouble: (error) => (isOfOneFact(error) ? warnings.error(error) : onLost(error)),
  });
}

/** The summary is folded only if a caller watches the run. It counts the calls then, as the last event of the run needs them. */
function summaryFollower(onProgress: NonNullable<RunOptions['onProgress']>, initial: RunSummary, ref: RunRef): Follower {
  const place = { ref, position: NOWHERE }; // the summary reads no result, and one for all events costs nothing
  return (event) => onProgress(summary.apply(initial, event, place));
}

const NOWHERE: Position = { offset: 0, bytes: 0 };

/** SESSION-1: returns when the fact is the first of the run, which may not be durable yet. */
async function recordStart({ options, script, store, prior, settled, ports }: BegunRun, ref: RunRef, recorder: RunRecorder) {
  const inputs = { ...(await inputFacts(options, ports.inputs, store)), ...recordedCallSettings(ports.calls.settings) };
  const warning = traceparentWarning(options.environment);
  if (warning !== undefined) options.io.stderr(`${warning}\n`);
  const own = await options.workflow?.facts(prior);
  return recorder.appendFollowed({ ...startedFact(options, { ref, header: script.resume, forks: prior.forks, inputs, settled }), ...own });
}

/** SESSION-1, SESSION-2 */
async function recordInvalidations(
  { options, store, prior }: BegunRun,
  { ref, recorder, followIntoMemo }: { readonly ref: RunRef; readonly recorder: RunRecorder; readonly followIntoMemo: Follower },
): Promise<void> {
  const facts = [...prior.invalidations, ...(options.pipeline?.afterStart ?? [])].flatMap(splitInvalidation);
  const during = facts.length === 0 || !recorder.on ? [] : await concurrentRuns(store, prior.loaded, ref);
  for (const each of facts) {
    const fact = during.length === 0 ? each : { ...each, during };
    const recorded = await recorder.append(fact);
    if (!recorded) followIntoMemo(eventOf(fact, seqOf(0), new Date(options.io.nowMs()).toISOString()), { offset: 0, bytes: 0 });
  }
}
