/**
 * Chooses the chain that `--resume` of a pipeline continues: the newest one, but for trials where models are asked now. graph-pipelines.md
 * 10.3.
 *
 * TRIAL-1  A chain is a trial for a resume if it holds the reply of a simulated stage that is not simulated now. The recorded definitions
 *          tell, those of the runs that its managers started too.
 * TRIAL-2  A run that began anew, with all its model stages simulated, is one before it has reached any of them.
 */
import { simulates } from '../../../../journal/facts/simulated-definition.js';
import type { RunId, Workflow } from '../../../../journal/ids.js';
import type { JournalStore } from '../../../../journal/store.js';
import { MlldError } from '../../../errors.js';
import { isSimulatedStage } from '../../../pipeline/backends/select-backend.js';
import { MANAGER_TYPE, startsChild } from '../../../pipeline/handlers/manager-loop.js';
import { callsModel, type CompiledPipeline } from '../../../pipeline/model/compiled-pipeline.js';
import { workflowFor } from '../../project.js';
import type { PipelineRunOptions } from '../run-pipeline-options.js';
import { openChain, runsOfPipeline, type Chain, type PipelineRunFile } from './chain.js';

/**
 * Undefined if the pipeline never ran; `anew` if there are trials only. Says on stderr which runs it passes over. Throws RESUME_NOTHING if
 * there are trials only, and a node or a run is named.
 */
export async function chainToContinue(
  options: PipelineRunOptions,
  store: JournalStore,
  plan: CompiledPipeline,
): Promise<Chain | 'anew' | undefined> {
  const { name, resume: node, resumable, io } = options;
  const trials: RunId[] = [];
  for await (const run of runsOfPipeline(store, workflowFor(options.project, options.file))) {
    const { file } = run;
    if (resumable && !resumable.has(file.ref.run)) continue;
    const chain = isTrialFromStart(run, options, plan) ? undefined : await openChain(store, file);
    if (chain && (file.liveness === 'running' || !(await isTrial(chain, store, options, plan)))) {
      if (trials.length > 0) io.stderr(`--resume passes over ${named(trials)}, for run ${chain.state.runId ?? file.ref.run}\n`);
      return chain;
    }
    trials.push(file.ref.run);
  }
  if (trials.length === 0) return undefined;
  if (node === '' && !resumable) {
    io.stderr(`--resume passes over ${named(trials)}; there is no other run, so this one begins anew\n`);
    return 'anew';
  }
  throw new MlldError('RESUME_NOTHING', `--resume: there is nothing to continue but ${named(trials)}`, {
    hint: `start a run without --resume; to continue the trial: mlld run ${name} --resume --backend simulated`,
  });
}

function named([newest, ...others]: readonly RunId[]): string {
  if (others.length === 0) return `run ${newest}, whose model stages were simulated`;
  return `run ${newest} and ${others.length} before it, whose model stages were simulated`;
}

/** TRIAL-2 */
function isTrialFromStart({ file, started }: PipelineRunFile, { backend }: PipelineRunOptions, plan: CompiledPipeline): boolean {
  if (started === undefined || started.resume !== undefined || file.liveness === 'running') return false;
  const { graph } = plan;
  const stages = [...graph.nodes.values()].filter(({ id }) => callsModel(plan, id));
  return (
    stages.every((node) => isSimulatedStage(started.backend, graph, node)) && stages.some((node) => !isSimulatedStage(backend, graph, node))
  );
}

/** TRIAL-1 */
async function isTrial(chain: Chain, store: JournalStore, { backend }: PipelineRunOptions, plan: CompiledPipeline): Promise<boolean> {
  const { graph } = plan;
  const nodeOf = (id: string): Parameters<typeof isSimulatedStage>[2] => (plan.has(id) ? plan.node(id) : undefined);
  if ([...chain.simulated].some((id) => !isSimulatedStage(backend, graph, nodeOf(id)))) return true;
  // Without a backend of the run, the graph of a child decides, and as it did then.
  const asksInChildren = backend !== undefined && !isSimulatedStage(backend, graph, undefined);
  const hasChildren = [...graph.nodes.values()].some((node) => plan.handlerOf(node.id) === MANAGER_TYPE && startsChild(node));
  return asksInChildren && hasChildren && simulatesInChildren(chain, store);
}

/** Looks at the runs that managers of the chain started, and at those that managers of these started. */
async function simulatesInChildren({ segments }: Chain, store: JournalStore): Promise<boolean> {
  const runs: (PipelineRunFile & { readonly run: RunId })[] = [];
  const graphs = [...(await store.workflows())].filter((workflow: Workflow) => workflow.endsWith('.dot'));
  for (const workflow of graphs)
    for await (const run of runsOfPipeline(store, workflow)) if (run.started?.parent) runs.push({ ...run, run: run.file.ref.run });
  const around = new Set(segments.map(({ ref }) => ref.run));
  // A run is younger than the one that started it.
  for (const { run, file, started } of runs.sort((a, b) => (a.run < b.run ? -1 : 1))) {
    if (started?.parent === undefined || !around.has(started.parent.journalRun ?? started.parent.run)) continue;
    around.add(run);
    let hasSimulated = false;
    await store.scan(file.ref, (event) => void (hasSimulated ||= event.type === 'definition.recorded' && simulates(event.parts)), {
      onDefect: () => undefined,
    });
    if (hasSimulated) return true;
  }
  return false;
}
