/**
 * Opens what the run of a workflow script and that of a program of the library share: journal, results of prior runs, calls; and ends it.
 * workflows-js.md 7 and 15.
 */
import path from 'node:path';
import type { Script } from '../../../grammar/ast.js';
import type { Json } from '../../../journal/event.js';
import type { RunRef } from '../../../journal/ids.js';
import { SIMULATED } from '../../../journal/facts/simulated-backend.js';
import { MlldError } from '../../errors.js';
import { isLikeOption } from '../../calls/backends/program.js';
import { createModule, type ModuleFacts } from '../../language/source-module.js';
import { processorCount } from '../../world/host.js';
import { isOnPath } from '../../world/files/search-path.js';
import { agentBackend } from '../../workflows/backends/select-backend.js';
import { loadModuleFile } from '../../modules/called-module.js';
import { crashed } from '../../workflows/backends/executable.js';
import { AgentTotals } from '../../workflows/run/ports.js';
import type { AgentPorts } from '../../workflows/run/ports.js';
import { removeLeftWorktrees } from '../../workflows/run/worktree.js';
import { endRun } from '../end-run.js';
import { openRunStore } from '../run-store.js';
import type { StopReason } from '../run-lifecycle.js';
import { callSettings } from '../script/call-settings.js';
import { createDocument } from '../script/document.js';
import { openRun, type OpenedRun, type Supervised } from '../open-run.js';
import type { RunOptions, RunReport } from '../script/run-options.js';
import { openSamples } from './recorded-samples.js';
import { agentDefinition } from './workflow-files.js';
import { workflowRecord, type WorkflowStart } from './workflow-record.js';

/** A workflow script has no statements of the language; the options alone decide what is recorded. */
const NO_SCRIPT: Script = { statements: [] } as unknown as Script;

/** Settings of the agents of a run. */
export interface AgentSettings {
  readonly backend?: string | undefined;
  readonly model?: string | undefined;
  readonly parallel?: number | undefined;
  /** The budget in output tokens. */
  readonly totalTokens?: number | undefined;
  readonly home?: string | undefined;
}

interface WorkParts {
  readonly options: RunOptions;
  readonly module: ModuleFacts;
  readonly settings: AgentSettings;
  readonly input: Json;
  /** The titles of `meta.phases`; undefined for a program, whose checkpoints have an order of their own. */
  readonly phases: readonly string[] | undefined;
}

export interface Work extends OpenedRun {
  readonly options: RunOptions;
  readonly start: WorkflowStart;
  /** All that agent calls need but their backend. */
  readonly ports: Omit<AgentPorts, 'backend'>;
  /** The most attempts and branches at once, unless the user says less. */
  readonly parallel: number;
}

/**
 * Every run records, unless the user forbids it: who runs a script for the first time does not know that it will break. Throws what
 * `openJournal` throws.
 */
export async function openWork(
  { options: given, module: facts, settings, input, phases }: WorkParts,
  supervised: Supervised,
): Promise<Work> {
  const { project, io } = given;
  const store = given.cache.noCheckpoint ? undefined : await openRunStore(given, supervised.world);
  let start: WorkflowStart = { clock: io.nowMs(), seed: 'unrecorded' };
  const record = {
    phases,
    input,
    budgetTokens: settings.totalTokens,
    settings,
    store,
    onStart: (begun: WorkflowStart) => void (start = begun),
  };
  const options: RunOptions = {
    ...given,
    cache: { ...given.cache, ...(store && { record: true }) },
    ...(store && { openStore: async () => store }),
    workflow: workflowRecord(given, record),
  };
  const parallel = slotsOf(options, settings);
  const document = createDocument({ streaming: true, collects: false });
  const parts = { script: NO_SCRIPT, module: createModule(facts), calls: settingsOfCalls(options, parallel), document };
  const opened = await openRun(options, parts, supervised);
  const { journal } = opened;
  await journal.started;
  const ports: Work['ports'] = {
    ...(await openSamples(journal.prior, store, journal.cache)),
    backendOf: (written) => installedBackend(options, phases ? backendOfScript(options, settings, written) : written),
    definitionOf: async (agentType) => agentDefinition(agentType, { project, home: settings.home }),
    model: modelFor(options, settings),
    totalTokens: settings.totalTokens ?? null,
    owner: journal.ref && ownerOf(journal.ref),
    totals: new AgentTotals(),
  };
  return { ...opened, options, start, ports, parallel };
}

/** The backend of a name, else that of the configuration. Throws AGENT_BACKEND. */
export function backendFor({ project: { root, config } }: Pick<RunOptions, 'project'>, written: string | undefined): AgentPorts['backend'] {
  return agentBackend(written ?? config.agent?.backend, { directory: root, words: config.agent?.words ?? {} });
}

/**
 * The backend that an agent of a script gets which names this one. Throws AGENT_BACKEND for a command and for words of a command line that
 * the user did not name: with them a script would start programs without asking an agent. workflows-js.md 14.
 */
function backendOfScript(
  { project: { config } }: Pick<RunOptions, 'project'>,
  { backend }: Pick<AgentSettings, 'backend'>,
  written: string,
): string {
  if (backend === SIMULATED) return SIMULATED; // so a stranger's script can be tried, whatever it names
  const { agent } = config;
  if (!written.includes(':') || [backend, agent?.backend, ...(agent?.backends ?? [])].includes(written)) return written;
  throw new MlldError('AGENT_BACKEND', `a script may not choose the backend ${JSON.stringify(written)}`, {
    hint: 'add it to "agent": { "backends": […] } in mlld-config.json, if the script may start it',
  });
}

/** As `backendFor`; throws AGENT_BACKEND for a program that is not on PATH, too. */
export function installedBackend(options: Pick<RunOptions, 'project' | 'environment'>, written: string | undefined): AgentPorts['backend'] {
  const backend = backendFor(options, written);
  const { program } = backend;
  if (program === undefined || isOnPath(program, options.environment)) return backend;
  throw new MlldError('AGENT_BACKEND', `the program ${program} is not on PATH`, { hint: 'install it, or name another backend' });
}

/** The model of agents that name none. Throws AGENT_BACKEND for one that a program would take for an option. */
export function modelFor({ project: { config } }: Pick<RunOptions, 'project'>, settings: AgentSettings): string | undefined {
  const model = settings.model ?? config.agent?.model;
  if (model === undefined || !isLikeOption(model)) return model;
  throw new MlldError('AGENT_BACKEND', `the name of a model may not begin with "-": ${JSON.stringify(model)}`, {
    hint: 'write options of a program behind its name, as in --backend "claude: --permission-mode plan"',
  });
}

/** Removes what killed runs left, and registers the hooks and guards of the configuration. */
export async function prepareWork({ frame, journal, options: { project } }: Work): Promise<void> {
  const { hooks } = project.config.agent ?? {};
  const left = journal.prior?.loaded.runs.filter(({ liveness }) => liveness !== 'running') ?? [];
  await removeLeftWorktrees(frame, new Set(left.map(({ ref }) => ownerOf(ref))));
  if (hooks !== undefined) await loadModuleFile(path.resolve(project.root, hooks), frame, crashed);
}

function ownerOf({ workflow, run }: RunRef): string {
  return `mlld ${workflow} ${run}`;
}

function slotsOf({ project }: RunOptions, { parallel }: AgentSettings): number {
  return parallel ?? project.config.agent?.parallel ?? Math.max(1, Math.min(PARALLEL_MAX, processorCount() - 2));
}

/** The slots of the script and `--concurrency` limit the same attempts: the smaller holds. workflows-js.md 3.1 and 10. */
function settingsOfCalls(options: RunOptions, slots: number): ReturnType<typeof callSettings> {
  const settings = callSettings(options);
  const firstMs = options.project.config.agent?.retryMs ?? settings.backoff.firstMs;
  return {
    ...settings,
    concurrency: Math.min(slots, settings.concurrency ?? slots),
    backoff: { ...settings.backoff, firstMs },
  };
}

const PARALLEL_MAX = 16;

/**
 * Records the end of a run, and returns what every report says.
 *
 * @param error the error that ended the run; undefined when it completed
 */
export async function finishWork(
  { options, journal, frame: { run } }: Work,
  signal: AbortSignal,
  error: MlldError | undefined,
): Promise<RunReport> {
  const isStopped = signal.aborted && error?.code === 'INTERRUPTED';
  const status = error === undefined ? 'completed' : isStopped ? (signal.reason as StopReason) : 'failed'; // aborted with nothing else
  run.calls?.dispatcher.end();
  return endRun({ options, run, journal, status, error });
}
