/** The names that can be written on a command line, for completion. Reads names of files, and the events of at most one run. */
import { openFileStore } from '../../journal/storage/file-store.js';
import { realDisk } from '../../journal/storage/disk.js';
import { journalFolder, runOfFile, runsFolder } from '../../journal/storage/layout.js';
import type { JournalEvent } from '../../journal/event.js';
import { findProject, listScripts, scriptName } from '../session/project.js';
import { findRun } from '../session/recorded-run.js';

/** Older runs are named by `SCRIPT@2`. */
const RUNS_MAX = 50;
/** Reading so many events takes about a tenth of a second. */
const EVENTS_MAX = 20_000;

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

/** Lists folders only: to know more of a run takes reading it. */
export async function recordedNames(workingDirectory: string): Promise<RecordedNames> {
  const project = await findProject(workingDirectory);
  const journal = journalFolder(project.root);
  const names = new Set<string>();
  const runs: { readonly text: string; readonly about: string }[] = [];
  for (const workflow of await openFileStore(project.root, { sealingKey: 'none' }).workflows()) {
    names.add(workflow.endsWith('.dot') ? workflow : scriptName(project, workflow));
    const files = await realDisk.list(runsFolder(journal, workflow)).catch(() => []);
    for (const file of files) {
      const run = runOfFile(file);
      if (run !== undefined) runs.push({ text: run, about: workflow });
    }
  }
  const latest = runs.sort((left, right) => (left.text < right.text ? 1 : -1)).slice(0, RUNS_MAX);
  return { workflows: [...names].sort(), runs: latest };
}

/** `text` names a run, or a script or pipeline: its latest run. Names behind its first events are left out of a long run. */
export async function namesInRun(workingDirectory: string, text: string): Promise<NamesInRun> {
  const project = { ...(await findProject(workingDirectory)), workingDirectory };
  const store = openFileStore(project.root, { sealingKey: 'none' });
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
