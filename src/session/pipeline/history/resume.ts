/** What `--resume` means for a pipeline: where the new run begins, that there is nothing to do, or why it can't be. graph-pipelines.md 10.3. */
import path from 'node:path';
import type { JournalStore } from '../../../../journal/store.js';
import type { GraphState } from '../../../../replay/pipeline/graph-state.js';
import { MlldError } from '../../../errors.js';
import type { CompiledPipeline } from '../../../pipeline/model/compiled-pipeline.js';
import { nodeToReenter } from '../../../pipeline/walk/reentry.js';
import { workflowFor } from '../../project.js';
import type { PipelineRunOptions } from '../run-pipeline-options.js';
import { isChildOf, newestChain, resumePoint, resumePointAt, type Chain, type ResumePoint } from './chain.js';
import type { World } from '../../../world/world.js';
import { checkEditedGraph } from './edited-graph.js';
import { runOfManifest } from '../manifest.js';
import { restartOf, type RunBeginning, type Restart } from '../run-start.js';

/** From looking what there is to resume until that has begun; gives what ends it. */
export async function lockToResume({ resume, project, file }: PipelineRunOptions, store: JournalStore): Promise<() => Promise<void>> {
  const workflow = workflowFor(project, file);
  const isThereAny = resume !== undefined && (await store.runs(workflow)).length > 0;
  return isThereAny ? store.acquireWorkflowLock(workflow) : async () => {};
}

/** Throws RESUME_NOTHING, RESUME_RUNNING, RESUME_NODE, RESUME_GRAPH, RESUME_DAMAGED. */
export async function findResumption(
  options: PipelineRunOptions,
  store: JournalStore,
  plan: CompiledPipeline,
): Promise<Pick<RunBeginning, 'resumed'> | Restart | { readonly notice: string }> {
  const { name, resume: node = '', parent, io } = options;
  const chain = await newestChain(store, workflowFor(options.project, options.file), parent && isChildOf(parent));
  if (!chain) throw new MlldError('RESUME_NOTHING', `--resume: no earlier run of ${name}`, { hint: `start one: mlld run ${name}` });
  const { latest, state } = chain;
  const { run } = latest.ref;
  if (latest.liveness === 'running') {
    throw new MlldError('RESUME_RUNNING', `--resume: run ${run} of ${name} is still going on`, {
      hint: 'wait for its end, or interrupt it',
    });
  }
  if (node === '' && state.status === 'completed') return { notice: `run ${state.runId} is completed: there is nothing to resume` };
  if (node === '' && state.status === 'restarted' && state.restartAt !== undefined) return restartOf(state, state.restartAt);
  refuseWithoutFirstEvent(chain, name);
  for (const line of ignoredOptions(options, state)) io.stderr(`${line}\n`);
  const ended = node === '' ? resumePoint(chain) : await resumePointAt(store, chain, node);
  for (const line of [...checkEditedGraph(plan, ended), ...damageWarnings(ended, name)]) io.stderr(`${line}\n`);
  // Asked of a graph that the walk fits.
  return { resumed: node === '' ? resumePoint(chain, (now) => nodeToReenter(plan, now)) : ended };
}

/**
 * Throws RESUME_FOLDER. A record may come from a bundle that somebody else has made, and a resumed run writes into the folder that its record
 * names: one that the engine did not choose is taken only where its manifest is that of the run, or `--run-dir` names it.
 */
export async function refuseForeignFolder(
  { project, runDirectory, workingDirectory, name }: PipelineRunOptions,
  { runDir, runId }: GraphState,
  world: World,
): Promise<void> {
  const folder = path.resolve(project.root, runDir);
  if (runDir === '' || folder.startsWith(path.join(project.root, '.mlld', 'graph') + path.sep)) return;
  if (runDirectory !== undefined && isFolderOf(folder, path.resolve(workingDirectory, runDirectory))) return;
  if ((await runOfManifest(world, folder)) === runId) return;
  throw new MlldError('RESUME_FOLDER', `--resume: run ${runId} is recorded with the folder ${runDir}, which holds no manifest of it`, {
    hint: `if the folder is meant: mlld run ${name} --resume --run-dir ${runDir}`,
  });
}

/** The folder that was asked for, or one of those behind its restarts. */
function isFolderOf(folder: string, wanted: string): boolean {
  return folder === wanted || folder.startsWith(`${wanted}.`);
}

/** Without its first event a run can be gone on with only when it went on with none itself: then its context is there. */
function refuseWithoutFirstEvent({ damage, state }: Chain, name: string): void {
  const headless = damage.find(({ isHeadless }) => isHeadless);
  if (!headless || 'graph.goal' in state.main.context) return;
  throw new MlldError('RESUME_DAMAGED', `--resume: the beginning of run ${headless.run} can't be read, so where it began is not known`, {
    hint: `mlld run ${name} --checkpoint begins anew and reuses every result that is recorded for the same walk`,
  });
}

/** Lines about what can't be read of the runs that are gone on with. */
function damageWarnings({ damage, replies }: ResumePoint, name: string): readonly string[] {
  return damage.map(({ run, lost, cut, open }) => {
    const what = lost === 0 ? 'the end' : lost === 1 ? '1 event' : `${lost} events`;
    const events = `run ${run}: ${what} of its journal can't be read (mlld journal verify ${run})`;
    if (cut.length === 0 && open !== undefined)
      return `${events}: it is of ${open}, whose end can't be read either, so ${open} runs again, and makes again the calls whose replies are lost`;
    if (cut.length === 0) return `${events}: no finished node and no recorded result that is needed is lost`;
    const kept = replies.size === 0 ? '' : '; model stages behind it reuse their recorded results where they are asked the same';
    return (
      `${events}: the end of ${cut.join(', ')} is lost, so ${cut.length === 1 ? 'it runs' : 'they run'} again, and commands behind it too${kept}; ` +
      `if this run stops, mlld run ${name} --resume goes on`
    );
  });
}

/** Lines about what a resumed run would have to be given anew: it goes on with the context and in the folder that it has. */
function ignoredOptions(
  { set, runDirectory, workingDirectory, project }: PipelineRunOptions,
  { given, runDir }: GraphState,
): readonly string[] {
  const known = given as PipelineRunOptions['set'];
  const others = Object.keys(set).filter((key) => known[key] !== set[key]);
  const lines = others.map((key) => `warning: --set ${key}=${set[key]} has no effect: a resumed run goes on with the context that it has`);
  const folder = path.resolve(project.root, runDir);
  const wanted = runDirectory === undefined ? folder : path.resolve(workingDirectory, runDirectory);
  if (!isFolderOf(folder, wanted)) lines.push(`warning: --run-dir ${runDirectory} has no effect: a resumed run goes on in ${runDir}`);
  return lines;
}
