/** Opens what `--fork` names: another workflow, up to one of its runs, or up to one event of that run. */
import type { JournalEvent } from '../../../journal/event.js';
import type { RunId, Seq, Workflow } from '../../../journal/ids.js';
import type { Defect, JournalStore } from '../../../journal/store.js';
import { loadWorkflow, type PriorRuns } from '../../../replay/memo/load.js';
import type { Memo } from '../../../replay/memo/memo.js';
import type { ForkSource } from '../../../replay/memo/overlay.js';
import { rejectResult, restoreResult } from '../../../replay/memo/rejected-results.js';
import { MlldError } from '../../errors.js';
import { isPath, scriptName, type WorkingProject } from '../project.js';
import { resolveWorkflow } from '../resolve-workflow.js';
import { pickRun } from '../recorded-run.js';

/** Without `run` all runs of the workflow are the source; with it, those up to and including it, or up to the event `seq` of it. */
export interface Fork extends ForkSource {
  readonly run?: RunId;
  readonly seq?: Seq;
}

export interface ForkRequest {
  readonly store: JournalStore;
  readonly project: WorkingProject;
  /** The workflow that forks. */
  readonly workflow: Workflow;
  readonly onDefect: (defect: Defect) => void;
  /** A pipeline executes all of its calls anew, so that its newest results may not be those of the run that is named. */
  readonly mayForkOwnRuns?: boolean | undefined;
}

/** Limits the workflows that a hint lists. */
const WORKFLOWS_SHOWN = 5;

/** `other`, `other@run`, `other@run:seq`; the run by its id, a unique beginning of it, `latest`, or a number that counts back. */
const FORK = /^(?<name>.+?)(?:@(?<run>[0-9a-z-]+)(?::(?<seq>\d{1,15}))?)?$/;

/** Throws FORK_SELF, FORK_UNKNOWN, FORK_RUN and SCRIPT_AMBIGUOUS. */
export async function openFork(text: string, { store, project, workflow, onDefect, mayForkOwnRuns = false }: ForkRequest): Promise<Fork> {
  const { name = text, run, seq } = FORK.exec(text)?.groups ?? {};
  const source = await resolveWorkflow(store, project, name);
  if (source === workflow && !(mayForkOwnRuns && run !== undefined)) throw forkOfItself(text, mayForkOwnRuns);
  const prior = source && (await loadWorkflow(store, source, { onDefect }));
  if (!source || !prior || prior.runs.length === 0) {
    if (name.indexOf('@') > 0) throw malformedFork(text, name);
    throw await unknownFork(text, { name, run }, { store, project });
  }
  if (run === undefined) return { workflow: source, memo: prior.memo, definitions: prior.definitions };
  const until: { run: RunId; seq?: Seq } = { run: forkedRun(text, run, prior) };
  if (seq !== undefined) until.seq = Number(seq) as Seq;
  refuseSeqPastEnd(text, until, prior);
  const { memo, definitions } = await loadWorkflow(store, source, { onDefect, until });
  await applyLaterMarks(memo, until.run, { store, source, onDefect });
  return { workflow: source, memo, definitions, ...until };
}

/** A result that was rejected after the run that is named is not offered either. calls.md 15.2 */
async function applyLaterMarks(
  memo: Memo,
  until: RunId,
  { store, source, onDefect }: Pick<ForkRequest, 'store' | 'onDefect'> & { readonly source: Workflow },
): Promise<void> {
  for (const { ref, finished } of await store.runs(source)) {
    if (ref.run <= until || finished?.marked === undefined) continue;
    const mark = (event: JournalEvent): void => {
      if (event.type === 'result.rejected') rejectResult(memo, event);
      else if (event.type === 'result.restored') restoreResult(memo, event);
    };
    await store.scan(ref, mark, { onDefect });
  }
}

function forkOfItself(text: string, isPipeline: boolean): MlldError {
  if (!isPipeline) return new MlldError('FORK_SELF', `--fork ${text}: a script can't fork from itself`);
  return new MlldError('FORK_SELF', `--fork ${text}: a pipeline can't fork from itself`, {
    hint: `--checkpoint reuses its newest replies, --fork ${text}@RUN those of a run`,
  });
}

/** The remedy names what is recorded, or how to record the workflow when that would be the first. */
async function unknownFork(
  text: string,
  { name, run }: { readonly name: string; readonly run: string | undefined },
  { store, project }: Pick<ForkRequest, 'store' | 'project'>,
): Promise<MlldError> {
  const which = run === undefined ? '' : `, so @${run} names none`;
  const recorded = (await store.workflows()).slice(0, WORKFLOWS_SHOWN).map((each) => scriptName(project, each));
  const others = recorded.length === 0 ? '' : `; runs are recorded of ${recorded.join(', ')}`;
  const command = /\.m?js$/.test(name) ? `run ${name}` : `${isPath(name) ? name : `run ${name}`} --checkpoint`;
  return new MlldError('FORK_UNKNOWN', `--fork ${text}: there is no recorded run of ${name}${which}`, {
    hint: `record one first: mlld ${command}${others}`,
  });
}

/** `name` holds an `@`, and `FORK` could not read what follows it. */
function malformedFork(text: string, name: string): MlldError {
  const script = name.slice(0, name.indexOf('@'));
  return new MlldError('FORK_RUN', `--fork ${text}: no run matches the part after @`, {
    hint: `${script}@latest, ${script}@2, ${script}@20261121-1049; up to an event of it: ${script}@RUN:17`,
  });
}

/** Picks among the runs that count: the results of a run that `checkpoint clean` removed can't be forked. */
function forkedRun(text: string, run: string, { runs, workflow }: PriorRuns): RunId {
  const found = pickRun(runs, run);
  if (found.kind === 'one') return found.run.ref.run;
  const ids = (found.kind === 'several' ? found.runs : runs).map(({ ref }) => ref.run);
  const problem = found.kind === 'several' ? `${ids.length} recorded runs begin with ${run}` : `${workflow} has no recorded run ${run}`;
  throw new MlldError('FORK_RUN', `--fork ${text}: ${problem}`, {
    hint: `the latest: ${ids.slice(-3).toReversed().join(', ')}; mlld journal list shows all`,
  });
}

/** Accepts any event of a run that has not ended, because its journal may still grow to that event. */
function refuseSeqPastEnd(text: string, { run, seq }: { readonly run: RunId; readonly seq?: Seq }, { runs }: PriorRuns): void {
  const last = runs.find(({ ref }) => ref.run === run)?.finished?.seq;
  if (seq === undefined || last === undefined || seq <= last) return;
  throw new MlldError('FORK_RUN', `--fork ${text}: run ${run} ends with event ${last}`, {
    hint: `mlld journal show ${run} numbers the events`,
  });
}
