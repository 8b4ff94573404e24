/** Finds the point at which `--resume` continues a pipeline, or says why it can't or needn't. graph-pipelines.md 10.3. */
import path from 'node:path';
import type { JournalStore } from '../../../../journal/store.js';
import { startOfRun } from '../../../../replay/fold/fold-run.js';
import type { PipelineState } from '../../../../replay/pipeline/pipeline-state.js';
import { MlldError } from '../../../errors.js';
import type { CompiledPipeline } from '../../../pipeline/model/compiled-pipeline.js';
import { nodeToReenter } from '../../../pipeline/walk/reentry.js';
import { workflowFor } from '../../project.js';
import type { PipelineReport, PipelineRunOptions } from '../run-pipeline-options.js';
import { childToContinue, resumePoint, resumePointAt, type Chain, type ResumePoint } from './chain.js';
import { chainToContinue } from './chain-to-continue.js';
import { addSalvagedReplies } from './salvaged-replies.js';
import type { World } from '../../../world/world.js';
import { checkEditedGraph, checkFailedBranches } from './edited-graph.js';
import { runOfManifest } from '../manifest.js';
import { restartOf, type RunBeginning, type Restart } from '../run-start.js';

/** Held while a process decides how to resume a pipeline and starts the new run, so that two processes cannot decide differently. */
export async function lockToResume({ resume, project, file }: PipelineRunOptions, store: JournalStore): Promise<() => Promise<void>> {
  const workflow = workflowFor(project, file);
  const hasRuns = resume !== undefined && (await store.runs(workflow)).length > 0;
  return hasRuns ? store.acquireWorkflowLock(workflow) : async () => {};
}

/**
 * Undefined where only trials could be continued, so that the run begins anew. Throws RESUME_NOTHING, RESUME_RUNNING, RESUME_NODE,
 * RESUME_GRAPH, RESUME_DAMAGED.
 */
export async function findResumption(
  options: PipelineRunOptions,
  store: JournalStore,
  plan: CompiledPipeline,
): Promise<
  | Pick<RunBeginning, 'resumed' | 'continues' | 'unresolvedBefore'>
  | (Restart & Pick<RunBeginning, 'unresolvedBefore'>)
  | (Pick<PipelineReport, 'left'> & { readonly notice: string })
  | undefined
> {
  const { name, resume: node = '', parent, io } = options;
  const workflow = workflowFor(options.project, options.file);
  const chain = parent ? (await childToContinue(store, workflow, parent))?.chain : await chainToContinue(options, store, plan);
  if (!chain) throw new MlldError('RESUME_NOTHING', `--resume: no earlier run of ${name}`, { hint: `start one: mlld run ${name}` });
  if (chain === 'anew') return undefined;
  const { latest, state } = chain;
  const { run } = latest.ref;
  if (latest.liveness === 'running') {
    throw new MlldError('RESUME_RUNNING', `--resume: run ${run} of ${name} is still running`, {
      hint: 'wait for its end, or interrupt it',
    });
  }
  if (node === '' && state.status === 'completed') {
    const left = await callsLeft(store, chain);
    return { notice: `run ${run} is completed: there is nothing to resume`, ...(left && { left }) };
  }
  if (node === '' && state.status === 'restarted' && state.restartAt !== undefined)
    return { ...restartOf(state, state.restartAt, latest), unresolvedBefore: chain.unresolvedBefore };
  refuseWithoutFirstEvent(chain, name);
  for (const line of ignoredOptions(options, state)) io.stderr(`${line}\n`);
  if (node === '') await addSalvagedReplies(store, chain);
  const ended = node === '' ? resumePoint(chain) : await resumePointAt(store, chain, node);
  for (const line of [...checkEditedGraph(plan, ended), ...damageWarnings(ended, name)]) io.stderr(`${line}\n`);
  // `nodeToReenter` needs a graph that contains the nodes of the walk.
  const resumed = node === '' ? resumePoint(chain, (now) => nodeToReenter(plan, now)) : ended;
  if (node === '' && resumed.enterAt !== undefined) checkFailedBranches(plan, state.main, resumed.enterAt);
  return { resumed, continues: latest, unresolvedBefore: resumed.unresolvedBefore };
}

/** Stages went on although calls failed, so that the pipeline reached its exit. */
async function callsLeft(store: JournalStore, { latest, left }: Chain): Promise<PipelineReport['left']> {
  return left.unresolved + left.inResults === 0 ? undefined : { ...left, argv: (await startOfRun(store, latest.ref))?.argv ?? [] };
}

/**
 * Throws RESUME_FOLDER. A record may come from a bundle of another person, and a resumed run writes into the folder that its record names.
 * A folder that the engine did not choose is accepted only if its manifest belongs to the run, or if `--run-dir` names it.
 */
export async function refuseForeignFolder(
  { project, runDirectory, workingDirectory, name }: PipelineRunOptions,
  { runDir, runId }: PipelineState,
  world: World,
): Promise<void> {
  const folder = path.resolve(project.root, runDir);
  if (runDir === '' || folder.startsWith(path.join(project.root, '.mlld', 'graph') + path.sep)) return;
  if (runDirectory !== undefined && isFolderOf(folder, path.resolve(workingDirectory, runDirectory))) return;
  if ((await runOfManifest(world, folder)) === runId) return;
  throw new MlldError('RESUME_FOLDER', `--resume: run ${runId} is recorded with the folder ${runDir}, which holds no manifest of it`, {
    hint: `to use this folder all the same: mlld run ${name} --resume --run-dir ${runDir}`,
  });
}

/** True for the folder itself, and for those of the restarts after it. */
function isFolderOf(folder: string, wanted: string): boolean {
  return folder === wanted || folder.startsWith(`${wanted}.`);
}

/** A run without its first event can be resumed only if its context is recorded, so only if it resumed no other run. */
function refuseWithoutFirstEvent({ damage, state }: Chain, name: string): void {
  const headless = damage.find(({ isHeadless }) => isHeadless);
  if (!headless || 'graph.goal' in state.main.context) return;
  throw new MlldError('RESUME_DAMAGED', `--resume: the beginning of run ${headless.run} can't be read, so where it began is not known`, {
    hint: `mlld run ${name} --checkpoint begins anew and reuses every result that is recorded for the same walk`,
  });
}

/** Returns lines about events of the resumed runs that can't be read, and what that costs. */
function damageWarnings({ damage, replies }: ResumePoint, name: string): readonly string[] {
  return damage.map(({ run, lost, cut, open }) => {
    const what = lost === 0 ? 'the end' : lost === 1 ? '1 event' : `${lost} events`;
    const events = `run ${run}: ${what} of its journal can't be read (mlld journal verify ${run})`;
    if (cut.length === 0 && open !== undefined)
      return (
        `${events}: it is of ${open}, whose end can't be read either, so ${open} runs again, ` +
        `and makes again the calls whose replies are lost`
      );
    if (cut.length === 0) return `${events}: no finished node and no recorded result that is needed is lost`;
    const kept = replies.size === 0 ? '' : '; model stages after it reuse their recorded results if their calls are the same';
    const again = cut.length === 1 ? 'it runs' : 'they run';
    return (
      `${events}: the end of ${cut.join(', ')} is lost, so ${again} again, and commands after it too${kept}; ` +
      `if this run stops, mlld run ${name} --resume continues it`
    );
  });
}

/** Returns warnings about options without effect: a resumed run keeps its context and its folder. */
function ignoredOptions(
  { set, runDirectory, workingDirectory, project }: PipelineRunOptions,
  { given, runDir }: PipelineState,
): readonly string[] {
  const known = given as PipelineRunOptions['set'];
  const others = Object.keys(set).filter((key) => known[key] !== set[key]);
  const lines = others.map((key) => `warning: --set ${key}=${set[key]} has no effect: a resumed run keeps its context`);
  const folder = path.resolve(project.root, runDir);
  const wanted = runDirectory === undefined ? folder : path.resolve(workingDirectory, runDirectory);
  if (!isFolderOf(folder, wanted)) lines.push(`warning: --run-dir ${runDirectory} has no effect: a resumed run continues in ${runDir}`);
  return lines;
}
