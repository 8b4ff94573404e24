/** The names that can be written on a command line, for completion. Reads names of files, and the events of at most one run. */
import { realDisk } from '../../journal/storage/disk.js';
import { journalFolder, runOfFile, runsFolder } from '../../journal/storage/layout.js';
import type { JournalEvent } from '../../journal/event.js';
import type { Workflow } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import { findProject, listScripts, scriptName, type Project } from '../session/project.js';
import { openProjectStore, storeUrl } from '../session/project-store.js';
import { findRun } from '../session/recorded-run.js';

export { checkpointTarget } from '../../replay/resume/selector.js';

/** Older runs are named by `SCRIPT@2`. */
const RUNS_MAX = 50;
/** Reading so many events takes about a tenth of a second. */
const EVENTS_MAX = 20_000;

/** Nobody waits longer at a Tab for a server that does not answer: half of a lease is the time for connecting. */
const LEASE_AT_TAB = '4s';

export interface NamesPlace {
  readonly workingDirectory: string;
  readonly environment: { readonly [name: string]: string | undefined };
}

export interface RecordedNames {
  /** Names of scripts and paths of pipelines, sorted. */
  readonly workflows: readonly string[];
  /** Run ids, the latest first, each with its workflow. */
  readonly runs: readonly { readonly text: string; readonly about: string }[];
}

export interface NamesInRun {
  readonly functions: readonly string[];
  readonly checkpoints: readonly string[];
  /** Ids of the nodes of a pipeline. */
  readonly nodes: readonly string[];
  readonly operations: readonly string[];
}

/** Names for `mlld run`. */
export async function scriptNames(workingDirectory: string, home: string | undefined): Promise<readonly string[]> {
  return listScripts(await findProject(workingDirectory), home);
}

/** Lists only folders of files: to know more of a run takes reading it. */
export async function recordedNames({ workingDirectory, environment }: NamesPlace): Promise<RecordedNames> {
  const project = await findProject(workingDirectory);
  const store = await openStore(project, environment);
  const runsOf = storeUrl({ project, environment }) === undefined ? runFiles(project.root) : runsIn(store);
  const names = new Set<string>();
  const runs: { readonly text: string; readonly about: string }[] = [];
  for (const workflow of await store.workflows()) {
    names.add(workflow.endsWith('.dot') ? workflow : scriptName(project, workflow));
    for (const run of await runsOf(workflow)) runs.push({ text: run, about: workflow });
  }
  const latest = runs.sort((left, right) => (left.text < right.text ? 1 : -1)).slice(0, RUNS_MAX);
  return { workflows: [...names].sort(), runs: latest };
}

function openStore(project: Project, environment: NamesPlace['environment']): Promise<JournalStore> {
  return openProjectStore({
    project,
    environment: { ...environment, MLLD_LEASE: LEASE_AT_TAB },
    sealingKey: 'none',
    stderr: () => undefined,
  });
}

type RunsOf = (workflow: Workflow) => Promise<readonly string[]>;

function runFiles(root: string): RunsOf {
  return async (workflow) => {
    const files = await realDisk.list(runsFolder(journalFolder(root), workflow)).catch(() => []);
    return files.flatMap((file) => runOfFile(file) ?? []);
  };
}

function runsIn(store: JournalStore): RunsOf {
  return async (workflow) => (await store.runs(workflow)).map(({ ref }) => ref.run);
}

/** `text` names a run, or a script or pipeline: its latest run. Names behind its first events are left out of a long run. */
export async function namesInRun({ workingDirectory, environment }: NamesPlace, text: string): Promise<NamesInRun> {
  const project = { ...(await findProject(workingDirectory)), workingDirectory };
  const store = await openStore(project, environment);
  const { ref } = await findRun(store, project, text);
  const names = { functions: new Set<string>(), checkpoints: new Set<string>(), nodes: new Set<string>(), operations: new Set<string>() };
  const visit = (event: JournalEvent): void => {
    if ('op' in event) names.operations.add(event.op);
    if (event.type === 'call.started' || event.type === 'call.reused') names.functions.add(event.fn);
    else if (event.type === 'checkpoint.reached') names.checkpoints.add(event.name);
    else if (event.type === 'node.started') names.nodes.add(event.node);
  };
  await store.scan(ref, visit, { eventsMax: EVENTS_MAX });
  const { functions, checkpoints, nodes, operations } = names;
  return { functions: [...functions], checkpoints: [...checkpoints], nodes: [...nodes], operations: [...operations] };
}
