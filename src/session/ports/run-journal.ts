/** Opens the journal of a run when it records, with the past that it is served from; or says that there is none. */
import type { Script, Statement } from '../../../grammar/ast.js';
import { JournalError, skippedRun } from '../../../journal/errors.js';
import type { Fact, FactOf, RecordedInputs, RunTotals } from '../../../journal/event.js';
import { runIdAt, seqOf, type RunId, type RunRef } from '../../../journal/ids.js';
import type { Journal, JournalStore } from '../../../journal/store.js';
import { countCall, endedCall, flawOf, isEndOfCall, noCalls, type CallCounts } from '../../../replay/fold/call-counts.js';
import { followIndex, concurrentRuns, saveIndex, type PriorRuns } from '../../../replay/memo/load.js';
import { createOverlay } from '../../../replay/memo/overlay.js';
import { cachePolicy, type PolicyFlags } from '../../../replay/memo/policy.js';
import { eventOf, follow } from '../../../replay/fold/projection.js';
import { summary } from '../../../replay/reports/summary/summary.js';
import type { ResultCache } from '../../runtime/result-cache.js';
import type { Recorder } from '../../runtime/recorder.js';
import type { PaidCalls } from '../../runtime/paid-calls.js';
import type { SecretRegistry } from '../../runtime/secret-registry.js';
import { MlldError } from '../../errors.js';
import { workflowFor } from '../project.js';
import type { CacheRequest, RunOptions } from '../script/run-options.js';
import { createRunCache, NO_RESULT_CACHE } from './result-cache.js';
import { splitInvalidation } from './bounded-facts.js';
import { createRun } from './create-run.js';
import { declarationsOf } from '../script/declarations.js';
import { createOutputFiles } from './output-files.js';
import { inputFacts, type RunInputs } from '../script/run-inputs.js';
import { settleOrphans } from './settle-orphans.js';
import { openPriorRuns, type InvalidationFact, type OpenedPriorRuns } from './prior-runs.js';
import { retryingStore } from './retrying-store.js';
import { createRecorder, isOfOneFact, NO_RECORDER, type Follower } from './recorder.js';
import { createOtherKeyWarning } from './other-key.js';
import { sealingKeyFor } from './sealing-key.js';
import { createJournalWarnings, type JournalWarnings } from './journal-warnings.js';
import { staleHitWarnings } from './stale-hits.js';
import { readOnlyStore } from './read-only-store.js';
import { VERSION } from '../../version.js';
import { hostFacts } from '../../world/host.js';
import type { World } from '../../world/world.js';

export interface OpenedJournal {
  /** Why nothing is recorded: nobody asked for a record, or somebody asked for none, or there is trouble with it. */
  readonly unrecorded?: 'unasked' | 'declined' | 'trouble';
  readonly recorder: Recorder;
  readonly cache: ResultCache;
  readonly ref?: RunRef;
  totals(): RunTotals;
  /** Resolves when all that was recorded so far is with the kernel: a process that is killed doesn't take it along. */
  flush(): Promise<void>;
  /** Appends the last event and releases the run. */
  finish(fact: FactOf<'run.finished'>): Promise<void>;
  /** Lines for stderr at the end. */
  notices(): readonly string[];
}

const NOTHING: RunTotals = { executed: 0, reused: 0, failed: 0, withoutResult: 0 };

function unrecordedRun(off: NonNullable<OpenedJournal['unrecorded']>): OpenedJournal {
  return {
    unrecorded: off,
    recorder: NO_RECORDER,
    cache: NO_RESULT_CACHE(),
    totals: () => NOTHING,
    flush: async () => {},
    finish: async () => {},
    notices: () => [],
  };
}

export interface JournalPorts {
  readonly world: World;
  /** What may not be read in the journal, as the run comes to know it. */
  readonly secrets: SecretRegistry;
  /** Stopped when the journal is lost. */
  readonly paidCalls: PaidCalls;
  /** Of a script: what it takes to run it again. */
  readonly inputs?: RunInputs;
  /** The run has to end. */
  readonly signal: AbortSignal;
}

export async function openJournal(options: RunOptions, script: Script, ports: JournalPorts): Promise<OpenedJournal> {
  const { project, io } = options;
  const recordedAs = recordPath(options.script);
  if (!mayRecord(options, script)) {
    const idle = idleFlags(options.cache);
    if (idle.length > 0) io.stderr(`warning: the script says resume: never, so ${idle.join(' and ')} did nothing; --resume does\n`);
    return unrecordedRun(options.cache.noCheckpoint || script.resume === 'never' ? 'declined' : 'unasked');
  }
  if (recordedAs === undefined) throw unnamed();
  const trouble = createJournalWarnings(io.stderr);
  const lost = (error: Error, but?: string): void => {
    if (options.unrecorded !== true && error instanceof JournalError) ports.paidCalls.stop(error);
    trouble.error(error, but);
  };
  const workflow = workflowFor(project, recordedAs);
  const sealingKey = await sealingKeyFor(options, ports.world);
  const store = await (options.openStore ?? defaultStore(project.root, io.stderr))(sealingKey);
  let opened: OpenedPriorRuns;
  try {
    opened = await openPriorRuns({
      store,
      project: { ...project, workingDirectory: options.workingDirectory },
      workflow,
      cache: options.cache,
      declarations: declarationsOf(script),
      onDefect: trouble.defect,
    });
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    lost(error);
    return unrecordedRun('trouble');
  }
  const { keepOrphans = false } = options.cache;
  const settled = await settleOrphans(opened.loaded, { keepOrphans, stderr: io.stderr, signal: ports.signal });
  for (const notice of opened.notices) io.stderr(`${notice}\n`);
  let journal: Journal | undefined;
  try {
    journal = await createRun(store, opened.loaded, io.nowMs, {
      ...(options.journalWaitMs === undefined ? {} : { waitMs: options.journalWaitMs }),
      onOutage: trouble.outage,
      onLost: (error) => trouble.error(error),
    });
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    const reuses = cachePolicy({ flags: options.cache, header: script.resume, scope: undefined }).reuses !== 'no';
    const isServed = !options.pipeline && reuses && opened.loaded.runs.length + opened.forks.length > 0;
    lost(error, isServed ? 'what earlier runs recorded is served' : undefined);
  }
  return start({ options, script, store: journal ? store : readOnlyStore(store), opened, settled, journal, trouble, lost, ports });
}

/** What was asked for on the command line, of a run that does not record all the same: its header says `never`. */
function idleFlags({ noCheckpoint, checkpoint, fresh, forks = [], changed, keepFiles, keepOrphans }: CacheRequest): readonly string[] {
  if (noCheckpoint === true) return [];
  return [
    ...(checkpoint === true ? ['--checkpoint'] : []),
    ...(fresh === true ? ['--fresh'] : []),
    ...(forks.length > 0 ? ['--fork'] : []),
    ...(changed === undefined ? [] : ['--changed']),
    ...(keepFiles === true ? ['--keep-files'] : []),
    ...(keepOrphans === true ? ['--keep-orphans'] : []),
  ];
}

/** With no flag at all a checkpoint's own `resume: auto` can still switch recording on. */
function mayRecord({ cache }: RunOptions, script: Script): boolean {
  if (cache.noCheckpoint) return false;
  if (cachePolicy({ flags: cache, header: script.resume, scope: undefined }).records) return true;
  const isAuto = (statement: Statement): boolean => {
    if (statement.kind === 'fence') return statement.statements.some(isAuto);
    if (statement.kind === 'when')
      return statement.entries.some((entry) => entry.kind === 'arm' && entry.action.kind === 'checkpoint' && isAuto(entry.action));
    if (statement.kind !== 'checkpoint') return false;
    return statement.options.some(
      ({ name, value }) => name === 'resume' && (value.kind !== 'literal' || String(value.value).toLowerCase() === 'auto'),
    );
  };
  return script.statements.some(isAuto);
}

/** Undefined for a text without a name: two such texts are not the same script, and must not share results. */
function recordPath(script: RunOptions['script']): string | undefined {
  return script.kind === 'file' ? script.path : script.recordAs;
}

function unnamed(): MlldError {
  return new MlldError('SCRIPT_UNNAMED', 'A record was asked for, and it has no name to go by: the script is a text', {
    hint: 'save it in a file; in a program, give the text a name: name: "nightly.mld"',
  });
}

function defaultStore(root: string, stderr: (text: string) => void): NonNullable<RunOptions['openStore']> {
  const onSkipped = (ref: RunRef): void => stderr(`warning: ${skippedRun(ref)}\n`);
  return async (sealingKey) => (await import('../../../journal/storage/file-store.js')).openFileStore(root, { sealingKey, onSkipped });
}

interface Start {
  readonly options: RunOptions;
  readonly script: Script;
  readonly store: JournalStore;
  readonly opened: OpenedPriorRuns;
  readonly settled: readonly RunId[];
  /** Undefined: it could not be begun. */
  readonly journal: Journal | undefined;
  readonly trouble: JournalWarnings;
  /** To be called when nothing can be recorded any more. */
  readonly lost: (error: Error) => void;
  readonly ports: JournalPorts;
}

async function start({ options, script, store, opened, settled, journal, trouble, lost, ports }: Start): Promise<OpenedJournal> {
  const { usable: past, forks } = opened;
  const ref = journal?.ref ?? refOfUnrecorded(opened.loaded);
  const flags: PolicyFlags = options.cache;
  const counts = noCalls();
  let withoutResult = 0;
  const followOwn = followIndex(past, ref);
  const followers: Follower[] = [
    followOwn,
    (event) => {
      if (!isEndOfCall(event)) return;
      countCall(counts, endedCall(event));
      if (event.type === 'call.completed' && flawOf(event) !== undefined) withoutResult += 1;
    },
    ...progressFollowers(options, ref),
    ...(options.pipeline?.followers ?? []),
  ];
  const recorder = journal
    ? createRecorder(journal, {
        secrets: ports.secrets,
        followers,
        onTrouble: (error) => (isOfOneFact(error) ? trouble.error(error) : lost(error)),
      })
    : NO_RECORDER;
  if (recorder.on) {
    const given = ports.inputs && (await inputFacts(options, ports.inputs, store));
    await recorder.append(started(options, script, opened, { ref, given, settled }));
  }
  const drops: readonly InvalidationFact[] = [...opened.invalidations, ...(options.pipeline?.afterStart ?? [])].flatMap(splitInvalidation);
  const during = drops.length === 0 || !recorder.on ? [] : await concurrentRuns(store, opened.loaded, ref);
  for (const drop of drops) {
    const fact = during.length === 0 ? drop : { ...drop, during };
    const recorded = await recorder.append(fact);
    // A disk that fails doesn't bring back what this run was told not to serve.
    if (!recorded) followOwn(eventOf(fact, seqOf(0), new Date(options.io.nowMs()).toISOString()), { offset: 0, bytes: 0 });
  }
  const overlay = createOverlay({
    run: ref.run,
    own: past.memo,
    definitions: past.definitions,
    complete: past.complete,
    forks,
    ...(flags.changed ? { changed: flags.changed } : {}),
  });
  const unreadable = new Set<string>();
  const onOtherKey = createOtherKeyWarning({ store, ref, memos: [...forks.map(({ memo }) => memo), past.memo], stderr: options.io.stderr });
  const patient = retryingStore(store, {
    waitMs: options.journalWaitMs,
    monotonicMs: options.io.monotonicMs,
    hasGivenUp: () => ports.paidCalls.stoppedBy !== undefined,
    onOutage: trouble.outage,
    onGivenUp: lost,
  });
  const answers = createRunCache({
    store,
    retrying: journal ? patient : store,
    root: options.project.root,
    secrets: await store.knownSecrets().catch(() => undefined),
    onOtherKey,
    ref,
    overlay,
    flags,
    header: script.resume,
    nowMs: options.io.nowMs,
    files: createOutputFiles({
      store: journal ? patient : store,
      workflows: [ref.workflow, ...forks.map(({ workflow }) => workflow)],
      keepsNewer: flags.keepFiles === true,
      onTrouble: (error) => trouble.error(error),
    }),
    onTrouble: (error) => trouble.error(error),
    onGap: trouble.gap,
    onUnreadable: (fn, then) => {
      if (unreadable.has(fn)) return;
      unreadable.add(fn);
      options.io.stderr(`warning: a recorded answer of @${fn} can't be read any more; ${then}\n`);
    },
  });
  return {
    recorder,
    cache: answers,
    ...(journal ? { ref } : {}),
    totals: () => totalsOf(counts, withoutResult),
    // Trouble is told of by what waits for its own facts.
    flush: async () => journal?.flush().catch(() => undefined),
    async finish(fact) {
      const recorded = await recorder.append(fact);
      const journalIs = await recorder.close();
      if (journalIs === 'regained') options.io.stderr('the journal could be written at the end of the run: what it had kept is recorded\n');
      if (journalIs === 'lost')
        options.io.stderr('the end of this run could not be recorded: it is listed as crashed, and --resume goes on with it\n');
      if (recorded && journalIs === 'kept') await saveIndex(store, past, ref.run, recorded).catch(() => undefined); // it may be missing at any time
    },
    notices: () => [
      ...staleHitWarnings(answers.staleHits, [past, ...forks]),
      ...(answers.unkeptCount() === 0 ? [] : [unkeptNotice(answers.unkeptCount())]),
    ],
  };
}

function unkeptNotice(count: number): string {
  const results = count === 1 ? '1 result is secret and was' : `${count} results are secret and were`;
  return `${results} not kept for later runs: MLLD_JOURNAL_KEY is none. Without it, or with a key (openssl rand -hex 32), they are kept sealed`;
}

/** As `run.finished` has them. */
function totalsOf({ executed, reused, failed, costUsd }: CallCounts, withoutResult: number): RunTotals {
  return {
    executed: executed + withoutResult,
    reused,
    failed: failed - withoutResult,
    withoutResult,
    ...(costUsd === null ? {} : { costUsd }),
  };
}

/** The summary is folded only where somebody watches. */
function progressFollowers({ onProgress }: RunOptions, ref: RunRef): Follower[] {
  if (!onProgress) return [];
  const followSummary = follow(summary, summary.initial(), ref);
  return [(event, position) => onProgress(followSummary(event, position))];
}

function started(
  options: RunOptions,
  script: Script,
  { forks }: OpenedPriorRuns,
  { ref, given, settled }: { readonly ref: RunRef; readonly given: RecordedInputs | undefined; readonly settled: readonly RunId[] },
): Fact {
  const { record, checkpoint, fresh, resume, changed, keepFiles } = options.cache;
  const flags = {
    ...(record === undefined ? {} : { record }),
    ...(checkpoint === undefined ? {} : { checkpoint }),
    ...(fresh === undefined ? {} : { fresh }),
    ...(resume === undefined ? {} : { resume }),
    ...(changed === undefined ? {} : { changed }),
    ...(keepFiles === undefined ? {} : { keepFiles }),
  };
  const host = hostFacts();
  const lent = forks.map(({ workflow: source, run, seq }) => ({
    workflow: source,
    ...(run ? { run } : {}),
    ...(seq === undefined ? {} : { seq }),
  }));
  return {
    type: 'run.started',
    workflow: ref.workflow,
    name: options.name,
    argv: options.argv,
    payload: options.payload,
    flags,
    ...(script.resume === undefined ? {} : { header: script.resume }),
    ...(lent.length > 0 ? { forks: lent } : {}),
    ...(given ? { given } : {}),
    ...(settled.length > 0 ? { settled } : {}),
    versions: { mlld: VERSION, node: host.node },
    host: host.name,
    pid: host.pid,
    ...options.pipeline?.facts(ref),
  };
}

/** A run that no journal holds. */
function refOfUnrecorded({ workflow }: PriorRuns): RunRef {
  return { workflow, run: runIdAt(0, '0000') };
}
