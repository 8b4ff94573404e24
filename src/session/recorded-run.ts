/**
 * Finds the recorded run that a user means: `20261121-084512-123-9f3a`, `20261121-0845`, `latest`, `patrol`, `patrol@2`, `patrol@20261121`.
 */
import { isRunId, type Workflow } from '../../journal/ids.js';
import type { JournalStore, RunFile } from '../../journal/store.js';
import { isRecordOfUpkeep } from '../../replay/fold/record-of-upkeep.js';
import { MlldError } from '../errors.js';
import { scriptName, type WorkingProject } from './project.js';
import { resolveWorkflow } from './resolve-workflow.js';

/** Limits the candidates that a message lists. */
const CANDIDATES_MAX = 10;

/**
 * Finds a run whose events are to be read, by what a person calls it. Throws RUN_UNKNOWN, RUN_AMBIGUOUS and RUN_UNREADABLE.
 *
 * ```js
 * const project = { ...(await findProject('.')), workingDirectory };
 * const file = await resolveRun(store, project, 'nightly@2');
 * ```
 */
export async function resolveRun(store: JournalStore, project: WorkingProject, text: string): Promise<RunFile> {
  const file = await findRun(store, project, text);
  if (file.isOfUnknownVersion === undefined) return file;
  throw new MlldError('RUN_UNREADABLE', `Run ${file.ref.run} is in a version of the journal that this program does not know`, {
    hint: 'a newer mlld recorded it, and can read it',
  });
}

/**
 * `text` is a run id, a unique beginning of one, `latest`, or a script by name or path, which means its latest run. `@N` after the script
 * counts back from that (`@1` is the latest, `@2` the one before), and `@` with an id picks one of its runs. Throws RUN_UNKNOWN and
 * RUN_AMBIGUOUS.
 */
export async function findRun(store: JournalStore, project: WorkingProject, text: string): Promise<RunFile> {
  const at = text.lastIndexOf('@');
  const script = await resolveWorkflow(store, project, at > 0 ? text.slice(0, at) : text);
  const which = at > 0 ? text.slice(at + 1) : 'latest';
  if (script !== undefined) return pick(await store.runs(script), which, text);
  const near = isRunId(text) ? undefined : await nearScript(store, project, at > 0 ? text.slice(0, at) : text);
  const meant = near === undefined ? undefined : `${near}${at > 0 ? text.slice(at) : ''}`;
  if (at > 0) throw unknownRun(text, `no run of "${text.slice(0, at)}" is recorded`, meant);
  return isRunId(text) ? byId(store, text) : pick(await allRuns(store), text, text, meant);
}

/** Finds the recorded script that a name or path means. Throws SCRIPT_NOT_RECORDED and SCRIPT_AMBIGUOUS. */
export async function recordedScript(store: JournalStore, project: WorkingProject, text: string): Promise<Workflow> {
  const workflow = await resolveWorkflow(store, project, text);
  if (workflow !== undefined) return workflow;
  const near = await nearScript(store, project, text);
  const hint = near === undefined ? await howToRecord(project, text) : `did you mean ${near}?`;
  throw new MlldError('SCRIPT_NOT_RECORDED', `No run of "${text}" is recorded`, { hint });
}

async function howToRecord(project: WorkingProject, text: string): Promise<string> {
  const { findWorkflow } = await import('./workflow/workflow-files.js');
  const place = { project, home: undefined, workingDirectory: project.workingDirectory };
  const isJavaScript = /\.m?js$/.test(text) || (await findWorkflow(text, place).catch(() => undefined)) !== undefined;
  return isJavaScript ? 'each run of it is recorded' : 'run it with --checkpoint to record it';
}

/** Finds a recorded script whose name or path resembles the text. */
export async function nearScript(store: JournalStore, project: WorkingProject, text: string): Promise<string | undefined> {
  const workflows = await store.workflows();
  const { closest } = await import('../values/suggest.js');
  return closest(text, [...workflows.map((workflow) => scriptName(project, workflow)), ...workflows]);
}

/** Returns all runs of a project, or of one script; oldest first. */
export async function allRuns(store: JournalStore, workflow?: Workflow): Promise<readonly RunFile[]> {
  const workflows = workflow === undefined ? await store.workflows() : [workflow];
  const runs = (await Promise.all(workflows.map((each) => store.runs(each)))).flat();
  return runs.sort((left, right) => (left.ref.run < right.ref.run ? -1 : 1));
}

async function byId(store: JournalStore, text: string): Promise<RunFile> {
  const ref = isRunId(text) ? await store.find(text) : undefined;
  const file = ref && (await store.runs(ref.workflow)).find((candidate) => candidate.ref.run === ref.run);
  if (file === undefined) throw unknownRun(text, 'no run of this project has this id');
  return file;
}

function pick(runs: readonly RunFile[], which: string, text: string, meant?: string): RunFile {
  const found = pickRun(runs, which);
  switch (found.kind) {
    case 'one':
      return found.run;
    case 'too-far-back':
      throw unknownRun(text, tooFarBack(runs.filter((file) => !isRecordOfUpkeep(file)).length));
    case 'none':
      throw unknownRun(text, 'no run id begins with it, and no recorded script has this name', meant);
    case 'several': {
      const named = found.runs.slice(-CANDIDATES_MAX).map(({ ref }) => `${ref.run} (${ref.workflow})`);
      throw new MlldError('RUN_AMBIGUOUS', `${found.runs.length} runs begin with "${which}": ${named.join(', ')}`, {
        hint: 'write more of the id',
      });
    }
  }
}

function tooFarBack(count: number): string {
  if (count === 0) return 'nothing is recorded';
  return count === 1 ? 'one run is recorded' : `${count} runs are recorded`;
}

export type Picked =
  | { readonly kind: 'one'; readonly run: RunFile }
  | { readonly kind: 'several'; readonly runs: readonly RunFile[] }
  | { readonly kind: 'none' | 'too-far-back' };

/** `runs` are sorted, oldest first. `which` is `latest`, `1` (the latest), `2` (the one before), an id or a beginning of one. */
export function pickRun(runs: readonly RunFile[], which: string): Picked {
  const back = which === 'latest' ? 1 : /^[1-9]\d{0,4}$/.test(which) ? Number(which) : undefined;
  if (back !== undefined) {
    const run = runs.filter((file) => !isRecordOfUpkeep(file)).at(-back);
    return run === undefined ? { kind: 'too-far-back' } : { kind: 'one', run };
  }
  const matches = runs.filter(({ ref }) => which !== '' && ref.run.startsWith(which));
  const [run, ...others] = matches;
  if (run === undefined) return { kind: 'none' };
  return others.length === 0 ? { kind: 'one', run } : { kind: 'several', runs: matches };
}

function unknownRun(text: string, reason: string, meant?: string): MlldError {
  return new MlldError('RUN_UNKNOWN', `There is no run "${text}": ${reason}`, {
    hint: `${meant === undefined ? '' : `did you mean ${meant}? `}mlld journal list shows the recorded runs`,
  });
}
