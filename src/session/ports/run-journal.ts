/**
 * Opens the journal of a run that records: reads its prior runs, creates the run, and hands out what the run records to and reuses from.
 *
 * SESSION-1  `run.started` is the first event, and what must not be reused is invalidated right behind it, before the first lookup.
 * SESSION-2  This run reuses no invalidated result even if the disk did not take the event.
 */
import type { Script } from '../../../grammar/ast.js';
import { JournalError } from '../../../journal/errors.js';
import type { FactOf } from '../../../journal/event.js';
import type { RunTotals } from '../../../journal/facts/run-event.js';
import { runIdAt, seqOf, type Position, type RunId, type RunRef, type Workflow } from '../../../journal/ids.js';
import type { Journal, JournalStore } from '../../../journal/store.js';
import { concurrentRuns, followIndex, saveIndex } from '../../../replay/memo/load.js';
import { cachePolicy } from '../../../replay/memo/policy.js';
import { eventOf } from '../../../replay/fold/projection.js';
import { summary, type RunSummary } from '../../../replay/reports/summary/summary.js';
import type { LearnedPace } from '../../calls/dispatch/ports.js';
import type { ResultCache } from '../../runtime/calls/result-cache.js';
import type { CallRuntime } from '../../runtime/calls/call-runtime.js';
import type { RunTrace } from '../../runtime/recorder.js';
import type { SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import { MlldError } from '../../errors.js';
import { workflowFor } from '../project.js';
import { nameUnknownSettings } from '../unknown-settings.js';
import type { RunOptions } from '../script/run-options.js';
import { declarationsOf } from '../script/declarations.js';
import { recordedCallSettings } from '../script/call-settings.js';
import { inputFacts, type RunInputs } from '../script/run-inputs.js';
import type { World } from '../../world/world.js';
import { splitInvalidation } from './fit-facts.js';
import { createRun } from './create-run.js';
import { changedFilesWarnings } from './files/changed-files.js';
import { createJournalWarnings, isOfOtherVersion, unkeptNotice, type JournalWarnings } from './journal-warnings.js';
import { openCache } from './results/open-cache.js';
import { offeredSources, refuseWorkers, workersOf } from './offers/workers-of-run.js';
import { learnedPace } from '../script/learned-pace.js';
import { checkSharedBudgets, openSharedBudgets } from '../script/shared-budgets.js';
import { openSharedLanes } from '../script/limits/shared-lanes.js';
import { openRecordingStore, storeUrl } from '../project-store.js';
import { openPriorRuns, type OpenedPriorRuns } from './prior-runs.js';
import { createRecorder, isOfOneFact, unrecordedRecorder, type Follower, type RunRecorder } from './recorder.js';
import { UnrecordedProgress } from '../unrecorded-progress.js';
import { ignoredFlagsWarning, recordPath, refusedRecording, type RefusedRecording } from './recording.js';
import { readOnlyStore } from './read-only-store.js';
import { NO_RESULT_CACHE } from '../no-result-cache.js';
import { createTotalsCounter, type TotalsCounter } from './run-totals.js';
import type { RunCalls } from '../run-calls.js';
import { sealingKeyFor } from './sealing-key.js';
import { runTrace, traceparentWarning } from './run-trace.js';
import { settleOrphans } from './settle-orphans.js';
import { staleHitWarnings } from './results/stale-hits.js';
import { startedFact } from './started-fact.js';

export interface OpenedJournal {
  /** Says why nothing is recorded; `failed`: the journal can't be read or written. Undefined when the run records. */
  readonly unrecorded: RefusedRecording | 'failed' | undefined;
  readonly recorder: RunRecorder;
  /** Resolves when `run.started` is recorded, or can't be: nothing that the run does may come before (SESSION-4). */
  readonly started: Promise<void>;
  readonly trace?: RunTrace | undefined;
  readonly cache: ResultCache;
  /** Undefined when nothing is recorded. */
  readonly ref: RunRef | undefined;
  /** The runs before, with the memo that follows this one. Undefined when nothing is recorded. */
  readonly prior: OpenedPriorRuns | undefined;
  /** The run restarts behind this node of a pipeline. */
  restarts(node: string | undefined): void;
  totals(): RunTotals;
  /** The calls of the run up to now, recorded or not; undefined while there are none. */
  calls(): RunCalls | undefined;
  /** Resolves when all that was recorded so far is with the kernel: a killed process does not lose it. */
  flush(): Promise<void>;
  /** Appends the last event and releases the run. */
  finish(fact: FactOf<'run.finished'>): Promise<void>;
  /** Returns lines for stderr at the end of the run. */
  notices(): readonly string[];
}

export interface JournalPorts {
  readonly world: World;
  /** Texts that may not be written to the journal, as the run learns them. */
  readonly secrets: SecretRegistry;
  /** Stopped when the journal is lost. */
  readonly calls: CallRuntime;
  /** Recorded at the start, so that the run can be replayed. */
  readonly inputs: RunInputs;
  /** Aborted when the run must stop. */
  readonly signal: AbortSignal;
}

/** Throws what `--resume`, `--fork`, store and sealing key can be wrong about, SCRIPT_UNNAMED, ORPHANS_LEFT and INTERRUPTED. */
export async function openJournal(options: RunOptions, script: Script, ports: JournalPorts): Promise<OpenedJournal> {
  const { stderr } = options.io;
  nameUnknownSettings(options.project.config, stderr);
  const refused = refusedRecording(options, script);
  if (refused !== undefined) {
    const warning = ignoredFlagsWarning(options);
    if (warning !== undefined) stderr(`${warning}\n`);
    refuseWorkers(options, undefined);
    await checkSharedBudgets(ports.calls, undefined);
    return unrecordedRun(refused, options, ports);
  }
  const path = recordPath(options.script);
  const warnings = createJournalWarnings(stderr);
  const onLost = (error: Error, remains?: string): void => {
    if (options.unrecorded !== true && error instanceof JournalError) {
      ports.calls.dispatcher.stop({ class: 'journal', message: error.message, error });
    }
    warnings.error(error, remains);
  };
  const store = await openStore(options, ports.world);
  refuseWorkers(options, store);
  await checkSharedBudgets(ports.calls, store);
  const prior = await readPriorRuns({ options, script, store, path, warnings, onLost });
  if (!prior) return unrecordedRun('failed', options, ports);
  const { keepOrphans = false } = options.cache;
  const settled = await settleOrphans(prior.loaded, { keepOrphans, stderr, signal: ports.signal });
  for (const notice of prior.notices) stderr(`${notice}\n`);
  const notice = options.workflow?.notice(prior);
  if (notice !== undefined) stderr(`${notice}\n`);
  const added: AddedFacts = { follow: () => undefined };
  const journal = await beginRun({ options, script, store, prior, warnings, onLost, added });
  return openedRun({
    options,
    script,
    ports,
    warnings,
    onLost,
    added,
    prior,
    settled,
    journal,
    store: journal ? store : readOnlyStore(store),
  });
}

function unrecordedRun(
  unrecorded: NonNullable<OpenedJournal['unrecorded']>,
  options: RunOptions,
  ports: Pick<JournalPorts, 'calls' | 'secrets'>,
): OpenedJournal {
  const counter = createTotalsCounter();
  const { restarts, totals, calls } = counter;
  const recorder = countingRecorder(counter, options, { workflow: '' as Workflow, run: runIdAt(0, '0000') });
  ports.calls.dispatcher.open({ record: (fact) => recorder.post(withoutSecrets(fact, ports.secrets)), learn: async () => NOTHING_LEARNED });
  return {
    unrecorded,
    recorder,
    started: Promise.resolve(),
    cache: NO_RESULT_CACHE(),
    ref: undefined,
    prior: undefined,
    restarts,
    totals,
    calls,
    flush: async () => {},
    finish: async () => {},
    notices: () => [],
  };
}

/** Throws STORE_UNRECORDED. */
async function openStore({ project, environment, io, unrecorded, openStore: open }: RunOptions, world: World): Promise<JournalStore> {
  if (unrecorded === true && !open && storeUrl({ project, environment }) !== undefined) {
    throw new MlldError(
      'STORE_UNRECORDED',
      "--unrecorded can't be used with the store of a team: no colleague would find what was paid for",
      {
        hint: 'MLLD_STORE=files in front of the command records on this machine',
      },
    );
  }
  const sealingKey = await sealingKeyFor({ project, environment }, world);
  if (open) return open(sealingKey);
  return openRecordingStore({ project, environment, sealingKey, stderr: io.stderr });
}

/** Set when the recorder is there: nothing is added before. */
interface AddedFacts {
  follow: RunRecorder['followAdded'];
}

interface Opening {
  readonly options: RunOptions;
  readonly script: Script;
  readonly store: JournalStore;
  readonly warnings: JournalWarnings;
  /** Called when nothing can be recorded any more: pauses the run before its next call. */
  readonly onLost: (error: Error, remains?: string) => void;
}

/** Undefined when the journal can't be read. */
async function readPriorRuns({
  options,
  script,
  store,
  path,
  warnings,
  onLost,
}: Opening & { readonly path: string }): Promise<OpenedPriorRuns | undefined> {
  const { project, workingDirectory, cache } = options;
  try {
    return await openPriorRuns({
      store,
      project: { ...project, workingDirectory },
      workflow: workflowFor(project, path),
      cache,
      declarations: declarationsOf(script),
      onDefect: warnings.defect,
      resolveTarget: options.workflow?.resolveTarget,
    });
  } catch (error) {
    if (!(error instanceof JournalError) || isOfOtherVersion(error)) throw error;
    onLost(error);
    return undefined;
  }
}

/** Undefined when the run can't be created: it then goes without a record, and reuses what is recorded. */
async function beginRun({
  options,
  script,
  store,
  prior: { loaded, forks },
  warnings,
  onLost,
  added,
}: Opening & { readonly prior: OpenedPriorRuns; readonly added: AddedFacts }): Promise<Journal | undefined> {
  try {
    return await createRun(store, loaded, options.io.nowMs, {
      waitMs: options.journalWaitMs,
      onOutage: warnings.outage,
      onLost: (error) => warnings.error(error),
      onAdded: (fact, recorded) => added.follow(fact, recorded),
    });
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    const { reuses } = cachePolicy({ flags: options.cache, header: script.resume, scope: undefined });
    const mayReuse = !options.pipeline && reuses !== 'no' && loaded.runs.length + forks.length > 0;
    onLost(error, mayReuse ? 'but results of earlier runs are reused' : undefined);
    return undefined;
  }
}

interface OpenedRun extends Opening {
  readonly added: AddedFacts;
  readonly ports: JournalPorts;
  readonly prior: OpenedPriorRuns;
  readonly settled: readonly RunId[];
  /** Undefined when the run could not be created; `store` then refuses to write. */
  readonly journal: Journal | undefined;
}

/** The name of a lane may be made of arguments, and the reason of a stop is what a provider said. calls.md 16.3. */
function withoutSecrets<F extends { readonly lane?: string; readonly message?: string }>(fact: F, secrets: SecretRegistry): F {
  const { lane, message } = fact;
  return {
    ...fact,
    ...(lane !== undefined && { lane: secrets.redact(lane) }),
    ...(message !== undefined && { message: secrets.redact(message) }),
  };
}

async function openedRun(run: OpenedRun): Promise<OpenedJournal> {
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
    record: (fact) => recorder.post(withoutSecrets(fact, ports.secrets)),
    sharing,
    async learn() {
      const nowMs = options.io.nowMs();
      const learned = await learnedPace(store, ref.workflow, { current: journal?.ref, nowMs });
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
  return {
    unrecorded: undefined,
    recorder,
    started: Promise.resolve(started?.recorded).then(() => undefined),
    trace: recorder.on ? runTrace(options.environment, ref) : undefined,
    cache,
    ref: journal && ref,
    prior,
    restarts: counter.restarts,
    totals: counter.totals,
    calls: counter.calls,
    // An error is reported by the append that waits for its own fact.
    flush: async () => journal?.flush().catch(() => undefined),
    async finish(fact) {
      const recorded = await recorder.append(fact);
      const state = await recorder.close();
      if (state === 'regained') options.io.stderr('the journal could be written at the end of the run: what was held back is recorded\n');
      if (state === 'lost')
        options.io.stderr('the end of this run could not be recorded: it is listed as crashed, and --resume continues it\n');
      // The index may be missing at any time.
      if (recorded && state === 'kept') await saveIndex(usable, ref.run, recorded).catch(() => undefined);
    },
    notices() {
      const unkept = unkeptNotice(cache.unkeptCount());
      return [
        ...staleHitWarnings(cache, [usable, ...forks], options.pipeline !== undefined),
        ...changedFilesWarnings(cache.changedFiles()),
        ...(unkept === undefined ? [] : [unkept]),
      ];
    },
  };
}

function recorderOf(
  { ports, warnings, onLost }: OpenedRun,
  journal: Journal,
  listeners: { readonly followers: readonly Follower[]; readonly count: TotalsCounter['count'] },
): RunRecorder {
  return createRecorder(journal, {
    secrets: ports.secrets,
    ...listeners,
    onTrouble: (error) => (isOfOneFact(error) ? warnings.error(error) : onLost(error)),
  });
}

const NOTHING_LEARNED: LearnedPace = { lanes: new Map(), costs: new Map() };

/** Counts the calls of a run that records nothing, and keeps its progress only if a caller watches the run. */
function countingRecorder({ count }: TotalsCounter, { onProgress, io }: RunOptions, ref: RunRef): RunRecorder {
  if (!onProgress) return unrecordedRecorder(count);
  const progress = new UnrecordedProgress({ ref, nowMs: io.nowMs, onProgress });
  const both: TotalsCounter['count'] = (fact) => {
    count(fact);
    progress.count(fact);
  };
  return unrecordedRecorder(both, progress);
}

/** The summary is folded only if a caller watches the run. It counts the calls then, as the last event of the run needs them. */
function summaryFollower(onProgress: NonNullable<RunOptions['onProgress']>, initial: RunSummary, ref: RunRef): Follower {
  const place = { ref, position: NOWHERE }; // the summary reads no result, and one for all events costs nothing
  return (event) => onProgress(summary.apply(initial, event, place));
}

const NOWHERE: Position = { offset: 0, bytes: 0 };

/** SESSION-1: returns when the fact is the first of the run, which may not be durable yet. */
async function recordStart({ options, script, store, prior, settled, ports }: OpenedRun, ref: RunRef, recorder: RunRecorder) {
  const inputs = { ...(await inputFacts(options, ports.inputs, store)), ...recordedCallSettings(ports.calls.settings) };
  const warning = traceparentWarning(options.environment);
  if (warning !== undefined) options.io.stderr(`${warning}\n`);
  const own = await options.workflow?.facts(prior);
  return recorder.appendFollowed({ ...startedFact(options, { ref, header: script.resume, forks: prior.forks, inputs, settled }), ...own });
}

/** SESSION-1, SESSION-2 */
async function recordInvalidations(
  { options, store, prior }: OpenedRun,
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
