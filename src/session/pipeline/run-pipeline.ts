/**
 * Puts a run of a pipeline together and sees it to its end: text, graph, prior runs, journal, world, walk. graph-pipelines.md 6.1, 10.3.
 *
 * PIPELINE-1  Nothing is recorded, and no folder made, before the graph is valid and the run to resume is found.
 * PIPELINE-2  A resumed run never writes to the journal of an earlier one.
 * PIPELINE-3  A run that ended at a `loop_restart` edge is followed by a new one, which begins with what its logical run was started with
 *             and nothing else.
 * PIPELINE-4  If two processes resume one chain, the second finds the run that the first has started, and is refused. Also one that was
 *             stopped since it read the chain, and the writer of the run itself: in the store of a team the new run takes it from them.
 */
import { JournalError } from '../../../journal/errors.js';
import type { FactOf } from '../../../journal/event.js';
import type { OpPath, RunRef } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { currentNode, type PipelineState } from '../../../replay/pipeline/pipeline-state.js';
import { MlldError } from '../../errors.js';
import { recordSource } from '../../operation/sources.js';
import { isReservedKey } from '../../pipeline/model/context-keys.js';
import { compilePipeline, type CompiledPipeline } from '../../pipeline/model/compiled-pipeline.js';
import type { Graph } from '../../pipeline/model/graph.js';
import { declaredInputs, undeclaredKeys, valuesOfInputs } from '../../pipeline/model/inputs.js';
import type { PipelineRuntime } from '../../pipeline/walk/pipeline-runtime.js';
import type { CallRuntime } from '../../runtime/calls/call-runtime.js';
import { createCallRuntime } from '../script/call-runtime.js';
import { callSettings } from '../script/call-settings.js';
import { SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import type { World } from '../../world/world.js';
import { addRunCalls } from '../ports/run-totals.js';
import { endRun } from '../end-run.js';
import { pausedError } from '../pause-error.js';
import { superviseRun } from '../run-lifecycle.js';
import type { ResultInside } from '../ports/results/result-cache.js';
import { createPipelineRuntime, limitReuse, openCheckpointFile, openRunFolder } from './create-runtime.js';
import type { ResumePoint } from './history/chain.js';
import { findResumption, lockToResume, refuseForeignFolder } from './history/resume.js';
import { createStateKeeper } from './state-keeper.js';
import { loadGraph } from './load-graph.js';
import { writeManifest } from './manifest.js';
import { pipelineTotals, positionAtEnd, walkToEnd } from './pipeline-end.js';
import { openRunStore } from '../run-store.js';
import { frameOfPipeline, openPipelineJournal } from './pipeline-journal.js';
import type { PipelineReport, PipelineRunOptions } from './run-pipeline-options.js';
import { initialContext, restartOf, startFacts, type Restart, type RunBeginning } from './run-start.js';
import { exportSecrets, requireSecrets, separateSecrets, shortSecretWarnings, type SecretSettings } from './secret-settings.js';

export function runPipeline(options: PipelineRunOptions): Promise<PipelineReport> {
  const settings = callSettings(options);
  const around = options.parent?.dispatcher;
  return superviseRun(options, {
    onStop: 'abort-signal', // an interrupted run still writes its files and its end
    work: async (world, signal, pause) => {
      const calls = createCallRuntime({ settings, io: options.io, pause, signal, around });
      try {
        return await prepareAndRun(options, world, signal, calls);
      } finally {
        calls.dispatcher.end();
      }
    },
  });
}

async function prepareAndRun(asked: PipelineRunOptions, world: World, signal: AbortSignal, calls: CallRuntime): Promise<PipelineReport> {
  refuseReservedKeys(asked);
  const { text, graph, refusal } = await loadGraph(asked, world);
  if (!graph) return withoutUndefined<PipelineReport>({ status: 'failed', error: refusal });
  checkInputs(asked, graph);
  const store = await openRunStore(asked, world);
  const plan = compilePipeline(graph, new Set(asked.handlers?.keys() ?? []));
  const unlock = await lockToResume(asked, store); // PIPELINE-4
  try {
    const found = asked.resume === undefined ? undefined : await findResumption(separateSecrets(asked, graph).recordable, store, plan);
    if (found && 'notice' in found) return { status: 'completed', pipeline: graph.name, ...found };
    const options = found ? asked : optionsAnew(asked, graph);
    const { recordable, secrets } = separateSecrets(options, graph);
    for (const line of shortSecretWarnings(secrets)) options.io.stderr(`${line}\n`);
    await exportSecrets(secrets, world);
    let beginning: RunBeginning = { set: recordable.set, unresolvedBefore: 0, ...found, number: 1 };
    const { unresolvedBefore } = beginning;
    if (beginning.resumed) {
      requireSecrets(beginning.resumed.state.given, secrets);
      await refuseForeignFolder(options, beginning.resumed.state, world);
    } else requireSecrets(beginning.set, secrets);
    let allCalls: PipelineReport['calls'];
    let childCalls: PipelineReport['calls'];
    let before: PipelineReport | undefined;
    const onChildEnded = (child: PipelineReport): void => {
      childCalls = addRunCalls(addRunCalls(childCalls, child.calls), child.childCalls);
    };
    for (;;) {
      const single = { options: recordable, secrets, world, signal, calls, plan, text, store, beginning, onStarted: unlock, onChildEnded };
      const { restart, ...report } = await runOnce(single).catch((error: unknown) => takenBetween(error, before));
      before = report;
      allCalls = addRunCalls(allCalls, report.calls);
      if (!restart)
        return withoutUndefined<PipelineReport>({
          ...report,
          calls: allCalls,
          childCalls,
          unresolvedBefore: unresolvedBefore || undefined,
        });
      const left = unresolvedBefore + (allCalls?.unresolved ?? 0);
      beginning = { ...restart, unresolvedBefore: left, number: beginning.number + 1 }; // PIPELINE-3
    }
  } finally {
    await unlock();
  }
}

/** PIPELINE-4: between two runs of this process another one may go on with the first. Rethrows any other error. */
function takenBetween(error: unknown, before: PipelineReport | undefined): PipelineReport & { readonly restart?: Restart } {
  if (before === undefined || !(error instanceof MlldError) || error.code !== 'RESUME_RUNNING') throw error;
  const sealed = new JournalError('STORE_SEALED', error.message, { cause: error });
  const { calls: _, ...report } = before; // counted already
  return { ...report, status: 'paused', error: pausedError({ pausedBy: { class: 'journal', message: error.message, error: sealed } }) };
}

function refuseReservedKeys({ set }: Pick<PipelineRunOptions, 'set'>): void {
  for (const key of Object.keys(set)) {
    if (isReservedKey(key))
      throw new MlldError('CONTEXT_KEY', `${key} can't be set: this key belongs to the engine`, { hint: 'choose another name' });
  }
}

/** Warns about values that are none of the inputs that the graph declares. Throws as `valuesOfInputs`. */
function checkInputs({ set, io }: PipelineRunOptions, graph: Graph): void {
  for (const key of undeclaredKeys(graph, set)) {
    const keys = declaredInputs(graph).map(({ key: each }) => each);
    io.stderr(`warning: --set ${key}: the pipeline declares no such input; it declares ${keys.join(', ')}\n`);
  }
  valuesOfInputs(graph, set);
}

/** Adds the defaults of the inputs that the graph declares; a resumed run keeps the values of its first run. Throws CONTEXT_KEY. */
function optionsAnew(asked: PipelineRunOptions, graph: Graph): PipelineRunOptions {
  const { resume: _, ...options } = asked;
  const set = valuesOfInputs(graph, options.set);
  refuseReservedKeys({ set });
  return { ...options, set };
}

interface SingleRun {
  /** The options as they may be recorded. */
  readonly options: PipelineRunOptions;
  readonly secrets: SecretSettings;
  readonly world: World;
  /** Aborted with a `StopReason` when the run must stop. */
  readonly signal: AbortSignal;
  readonly calls: CallRuntime;
  readonly plan: CompiledPipeline;
  readonly text: string;
  readonly store: JournalStore;
  readonly beginning: RunBeginning;
  /** Called when the run is in the journal, where other processes see that it is running. */
  readonly onStarted: () => Promise<void>;
  readonly onChildEnded: (report: PipelineReport) => void;
}

async function runOnce(single: SingleRun): Promise<PipelineReport & { readonly restart?: Restart }> {
  const { world, signal, calls, plan, text, store, beginning, onChildEnded } = single;
  const secretSettings = new SecretRegistry();
  const secrets = new SecretRegistry();
  for (const value of single.secrets.values()) for (const registry of [secretSettings, secrets]) registry.add(value);
  const options = { ...single.options, set: beginning.set };
  const { io } = options;
  const { resumed } = beginning;
  const startedMs = io.monotonicMs();
  const timestamp = (): string => new Date(io.nowMs()).toISOString();
  const warnOnce = createWarnOnce(io.stderr, secrets);

  let ref: RunRef | undefined;
  const refOf = (): RunRef => ref ?? unopened();
  const lostThreads = new Set(resumed?.state.threads); // before the keeper changes the state
  const keeper = createStateKeeper(resumed?.state, refOf, options.onEvent);
  const journal = await openPipelineJournal(options, {
    store,
    world,
    calls,
    secrets,
    signal,
    followers: [keeper.follow],
    inside: (op) => insideStage(keeper.state, op),
    name: plan.graph.name,
    isChild: options.parent !== undefined,
    continues: beginning.continues,
    afterStart: resumed ? invalidations(options.resume ?? '', resumed) : [],
    facts: (opened) => {
      ref = opened;
      options.onOpened?.(opened);
      return startFacts(single, opened);
    },
  });
  await single.onStarted();
  const { recorder, trace } = journal;
  const ledger = keeper.ledger(recorder, refOf(), timestamp);
  const folder = openRunFolder(options, keeper.state.runDir, world, secretSettings);
  const checkpoint = openCheckpointFile(options, { folder, world, keeper, journal, calls, warnOnce });
  const cache = limitReuse(journal.cache, options, keeper.state, resumed?.replies);
  const frame = await frameOfPipeline(options, { world, text, recorder, trace, cache, secrets, signal, calls });
  options.onState?.(keeper.state);
  const parts = { ledger, folder, checkpoint, secretSettings, lostThreads, warnOnce, onChildEnded };
  const run = createPipelineRuntime({ options, pipeline: plan, store, world, frame, journal, keeper, calls, runPipeline, ...parts });

  await recordSource(frame, options.file, text, 'script');
  await writeManifest(world, {
    folder: folder.path,
    runId: keeper.state.runId ?? '',
    journalRun: refOf().run,
    pipeline: plan.graph.name,
    goal: plan.goal,
    source: { path: options.name, text },
    startedAt: keeper.state.startedAt,
    resumedAt: resumed ? timestamp() : undefined,
  });
  postInitialContext(run, keeper.state);
  await checkpoint.flush();

  const { signal: callerSignal } = options;
  const end = await walkToEnd(run, { signal, callerSignal, calls, number: beginning.number });
  if (end.restartAt !== undefined) journal.restarts(currentNode(keeper.state));
  const counted = journal.totals();
  const unresolvedBefore = beginning.unresolvedBefore + (counted.unresolvedBefore ?? 0);
  const totals = {
    ...counted,
    ...pipelineTotals(keeper.state),
    ...(unresolvedBefore > 0 && { unresolvedBefore }),
    elapsedMs: Math.round(io.monotonicMs() - startedMs),
  };
  const more = { ...positionAtEnd(keeper.state, end), totals };
  // A pipeline is resumed at its nodes, and not by a target.
  const { resume: _, ...report } = await endRun({ options, run: frame.run, journal, status: end.status, error: end.error, more });
  await checkpoint.flush();
  return withoutUndefined<PipelineReport & { readonly restart?: Restart }>({
    ...report,
    pipeline: plan.graph.name,
    runDirectory: folder.path,
    argv: options.argv,
    restart: end.restartAt === undefined ? undefined : restartOf(keeper.state, end.restartAt, { ref: refOf() }),
  });
}

function invalidations(selector: string, { invalidated, refused }: ResumePoint): readonly FactOf<'memo.invalidated'>[] {
  const own = { type: 'memo.invalidated', selector, keys: invalidated } as const;
  const forked = { type: 'memo.invalidated', selector, keys: refused, borrowed: true } as const;
  return [own, forked].filter(({ keys }) => keys.length > 0);
}

/** A run can die before its context is recorded, or the record be damaged: the run that resumes it adds what is missing. */
function insideStage({ received }: PipelineState, op: OpPath): ResultInside | undefined {
  const { reply: key, result } = received.get(op) ?? {};
  return key && result && { key, result };
}

function postInitialContext({ pipeline, frame, ledger }: PipelineRuntime, state: PipelineState): void {
  const { context } = state.main;
  if ('graph.goal' in context) return;
  const missing = Object.entries(initialContext(pipeline, state)).filter(([key]) => !Object.hasOwn(context, key));
  ledger.post({ type: 'context.updated', op: frame.op.path, updates: Object.fromEntries(missing), by: 'start' });
}

function createWarnOnce(stderr: (text: string) => void, secrets: SecretRegistry): (message: string) => void {
  const warned = new Set<string>();
  return (message) => {
    if (warned.has(message)) return;
    warned.add(message);
    stderr(`warning: ${secrets.redact(message)}\n`);
  };
}

function unopened(): never {
  throw new Error('the journal of the run is not open yet');
}
