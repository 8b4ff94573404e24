/**
 * Puts a run of a workflow script together and sees it to its end. workflows-js.md 7 and 11.
 *
 * WORKFLOW-1  Nothing is recorded before the text, the backend and the `--resume` target are found to be good.
 * WORKFLOW-2  Every run records, unless the user forbids it: who runs a script for the first time does not know that it will break.
 */
import path from 'node:path';
import type { Json } from '../../../journal/event.js';
import type { FactOf } from '../../../journal/event.js';
import type { RunStatus } from '../../../journal/facts/run-event.js';
import type { JournalStore } from '../../../journal/store.js';
import { skippedRun } from '../../../journal/errors.js';
import type { RunRef } from '../../../journal/ids.js';
import type { Script } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { execute } from '../../language/evaluate.js';
import { createModule } from '../../language/source-module.js';
import { performEffect } from '../../operation/perform-effect.js';
import { placeOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import { processorCount } from '../../world/host.js';
import type { World } from '../../world/world.js';
import { loadModule } from '../../workflows/backends/executable.js';
import { agentBackend } from '../../workflows/backends/select-backend.js';
import { AgentTotals, type FailedAgent } from '../../workflows/run/agent-totals.js';
import type { WorkflowPorts, WorkflowSource } from '../../workflows/run/ports.js';
import { removeLeftWorktrees } from '../../workflows/run/worktree.js';
import { runScript } from '../../workflows/run/script-run.js';
import { pausedError, pauseOf } from '../pause-error.js';
import { concealError } from '../ports/conceal.js';
import { openJournal, type OpenedJournal } from '../ports/run-journal.js';
import { sealingKeyFor } from '../ports/sealing-key.js';
import { superviseRun, timedOut } from '../run-lifecycle.js';
import { outcomeOf } from '../run-outcome.js';
import { createCallRuntime } from '../script/call-runtime.js';
import { callSettings } from '../script/call-settings.js';
import { createDocument } from '../script/document.js';
import { createRunState, rootFrame } from '../script/root-frame.js';
import type { RunOptions, RunReport } from '../script/run-options.js';
import { settingsFor } from '../script/settings.js';
import { openSamples } from './recorded-samples.js';
import { agentDefinition, calledWorkflow, readWorkflowFile, type WorkflowPlace } from './workflow-files.js';
import { workflowRecord, type WorkflowStart } from './workflow-record.js';

/** A script of the dialect has no statements of the language; the options alone decide what is recorded. */
const NO_SCRIPT: Script = { statements: [] } as unknown as Script;

export interface WorkflowSettings {
  /** `[]` where nothing was given. */
  readonly args: readonly Json[];
  readonly backend?: string | undefined;
  readonly model?: string | undefined;
  readonly parallel?: number | undefined;
  /** The budget in output tokens. */
  readonly totalTokens?: number | undefined;
  readonly home?: string | undefined;
}

export interface WorkflowReport extends RunReport {
  readonly agents?: { readonly calls: number; readonly failed: readonly FailedAgent[] };
}

/** `options.script` must be a file. */
export function runWorkflow(options: RunOptions, settings: WorkflowSettings): Promise<WorkflowReport> {
  const { io } = options;
  const withMessages = { ...options, io: { ...io, stderr: io.message ?? io.stderr } };
  return superviseRun<WorkflowReport>(options, {
    onStop: 'close-world',
    work: (world, signal, pause) => prepareAndRun(withMessages, settings, { world, signal, pause }),
  });
}

interface Supervised {
  readonly world: World;
  readonly signal: AbortSignal;
  readonly pause: () => void;
}

async function prepareAndRun(given: RunOptions, settings: WorkflowSettings, { world, signal, pause }: Supervised): Promise<WorkflowReport> {
  const { project, workingDirectory, io, script } = given;
  if (script.kind !== 'file') throw new Error('a workflow script is a file');
  const place: WorkflowPlace = { project, home: settings.home, workingDirectory };
  const source = readWorkflowFile(script.path, place); // WORKFLOW-1
  const { agent } = project.config;
  const directory = path.dirname(script.path);
  const backendPlace = { directory: project.root, words: agent?.words ?? {} };
  const backend = agentBackend(settings.backend ?? agent?.backend, backendPlace); // WORKFLOW-1
  const store = given.cache.noCheckpoint ? undefined : await storeOf(given, world);
  const begun: { start?: WorkflowStart } = {};
  const options: RunOptions = {
    ...given,
    cache: { ...given.cache, ...(!given.cache.noCheckpoint && { record: true }) }, // WORKFLOW-2
    ...(store && { openStore: async () => store }),
    workflow: workflowRecord(given, { source, args: settings.args, store, onStart: (start) => void (begun.start = start) }),
  };
  const calls = createCallRuntime({ settings: settingsOfCalls(options, settings), io, pause, signal });
  const runSettings = await settingsFor(options, directory, world);
  const secrets = new SecretRegistry();
  const journal = await openJournal(options, NO_SCRIPT, {
    world,
    secrets,
    signal,
    calls,
    inputs: { settings: runSettings, state: undefined },
  });
  const start = begun.start ?? { clock: io.nowMs(), seed: 'unrecorded' };
  const document = createDocument({ streaming: true, collects: false });
  const { recorder, cache, trace } = journal;
  const run = createRunState({
    options,
    world,
    recorder,
    trace,
    cache,
    secrets,
    document,
    settings: runSettings,
    state: undefined,
    signal,
    calls,
  });
  const module = createModule({ path: source.file, display: source.display, directory, text: source.text.text, isMain: true });
  const frame = rootFrame(run, module, execute);
  const samples = await openSamples(journal.prior, store, { reuses: cache.policy().reuses, cache });
  const totals = new AgentTotals();
  const ports: WorkflowPorts = {
    take: (call) => samples.take(call),
    elapsedOf: (key) => samples.elapsedOf(key),
    findScript: async (ref, from) => calledWorkflow(ref, from.file, place),
    backendOf: (written) => agentBackend(written, backendPlace),
    definitionOf: async (agentType) => agentDefinition(agentType, place),
    backend,
    model: settings.model ?? agent?.model,
    totalTokens: settings.totalTokens ?? null,
    seed: start.seed,
    owner: journal.ref && ownerOf(journal.ref),
    totals,
  };
  const error = await outcome(async () => {
    await removeLeftWorktrees(
      frame,
      new Set(journal.prior?.loaded.runs.filter(({ liveness }) => liveness !== 'running').map(({ ref }) => ownerOf(ref))),
    );
    if (agent?.hooks !== undefined) await loadModule(path.resolve(project.root, agent.hooks), frame);
    const [result] = await runScript(ports, frame, { source, args: settings.args, clockMs: start.clock, isNested: false });
    await printResult(frame, result);
  });
  return finish({ options, frame, journal, signal, error, totals, source });
}

function ownerOf({ workflow, run }: RunRef): string {
  return `mlld ${workflow} ${run}`;
}

/** Undefined when the work completed. */
async function outcome(work: () => Promise<void>): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error;
  }
}

export async function storeOf(options: RunOptions, world: World): Promise<JournalStore> {
  const sealingKey = await sealingKeyFor(options, world);
  if (options.openStore) return options.openStore(sealingKey);
  const { openFileStore } = await import('../../../journal/storage/file-store.js');
  const onSkipped = (ref: RunRef): void => options.io.stderr(`warning: ${skippedRun(ref)}\n`);
  return openFileStore(options.project.root, { sealingKey, onSkipped });
}

/** The slots of the script and `--concurrency` limit the same attempts: the smaller holds. workflows-js.md 3.1 and 10. */
function settingsOfCalls(options: RunOptions, { parallel }: WorkflowSettings): ReturnType<typeof callSettings> {
  const settings = callSettings(options);
  const { agent } = options.project.config;
  const slots = parallel ?? agent?.parallel ?? Math.max(1, Math.min(PARALLEL_MAX, processorCount() - 2));
  const firstMs = agent?.retryMs ?? settings.backoff.firstMs;
  return {
    ...settings,
    concurrency: Math.min(slots, settings.concurrency ?? slots),
    backoff: { ...settings.backoff, firstMs },
  };
}

const PARALLEL_MAX = 16;

/** A text as it is, other data as JSON, nothing for what is undefined. workflows-js.md 2. */
async function printResult(frame: Frame, result: Json | undefined): Promise<void> {
  if (result === undefined) return;
  const text = typeof result === 'string' ? result : JSON.stringify(result, undefined, 2);
  await performEffect(frame, 'stream.write', { stream: 'stdout', text: text.endsWith('\n') ? text : `${text}\n` });
}

interface Ended {
  readonly options: RunOptions;
  readonly frame: Frame;
  readonly journal: OpenedJournal;
  readonly signal: AbortSignal;
  readonly error: unknown;
  readonly totals: AgentTotals;
  readonly source: WorkflowSource;
}

async function finish({ options, frame: { run }, journal, signal, error, totals }: Ended): Promise<WorkflowReport> {
  if (error !== undefined && !(error instanceof MlldError)) throw error; // a broken invariant
  const { dispatcher } = run.calls ?? {};
  const status: RunStatus =
    error === undefined ? 'completed' : signal.aborted && error.code === 'INTERRUPTED' ? (signal.reason as RunStatus) : 'failed';
  const shown =
    status === 'timed-out'
      ? timedOut(options.timeoutMs)
      : status === 'paused' && dispatcher
        ? pausedError({ pausedBy: dispatcher.pausedBy })
        : error;
  dispatcher?.end();
  for (const failure of run.interceptors.hooks.repeatedFailures()) run.warn(failure);
  await journal.finish(finishedFact(status, shown, run, journal));
  concealError(shown, run.secrets);
  for (const notice of journal.notices()) options.io.stderr(`${notice}\n`);
  const { unrecordedResults } = run;
  return withoutUndefined<WorkflowReport>({
    status,
    journal: journal.ref,
    ...outcomeOf({ status, error: shown, journal, dispatcher, checkpoints: run.checkpoints }),
    unrecordedResults: journal.unrecorded === 'not-requested' && unrecordedResults > 0 ? unrecordedResults : undefined,
    error: shown,
    agents: { calls: totals.calls, failed: totals.failed },
  });
}

function finishedFact(status: RunStatus, error: unknown, { calls, secrets }: Frame['run'], journal: OpenedJournal): FactOf<'run.finished'> {
  const totals = journal.totals();
  if (error === undefined) return { type: 'run.finished', status, totals };
  if (status === 'paused' && calls) return { type: 'run.finished', status, totals, pause: pauseOf(error, calls.dispatcher, secrets) };
  const { code, location } = error as MlldError;
  const message = secrets.messageOf(error);
  return { type: 'run.finished', status, error: location ? { code, message, location: placeOf(location) } : { code, message }, totals };
}
