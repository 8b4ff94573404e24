/**
 * `--plan` of a pipeline: where a run with these options would begin, which nodes it would come to as far as that is known before it runs,
 * and which of their model stages have recorded results. Nothing is executed, written or recorded.
 */
import type { JournalStore } from '../../../journal/store.js';
import { loadWorkflow } from '../../../replay/memo/load.js';
import { usable } from '../../../replay/memo/memo.js';
import { graphState } from '../../../replay/pipeline/graph-state.js';
import { compilePipeline } from '../../pipeline/model/compiled-pipeline.js';
import { stepsAhead, type PlannedNode } from '../../pipeline/walk/steps-ahead.js';
import { workflowFor } from '../project.js';
import type { PipelineRunOptions } from './run-pipeline-options.js';
import { createLiveWorld } from '../../world/live.js';
import { withoutSealingKey } from '../ports/sealing-key.js';
import { readOnlyStore } from '../ports/read-only-store.js';
import { storeOf } from './pipeline-journal.js';
import { findResumption } from './history/resume.js';
import { requireSecrets, separateSecrets } from './secret-settings.js';
import { loadGraph } from './load-graph.js';

export interface PipelinePlan {
  readonly pipeline: string;
  readonly name: string;
  /** `nothing`: the run that would be resumed is completed. */
  readonly begins: 'anew' | 'resumed' | 'nothing';
  /** What is resumed: the first run of the chain, and whether the first node below is entered anew, went on with, or comes next. */
  readonly resume: { readonly run: string; readonly place: 'at' | 'behind' } | null;
  /** In their order. */
  readonly nodes: readonly PlannedStep[];
  /** Where the walk may go behind the last of them, when only the run can tell. */
  readonly afterwards: readonly string[];
  /** What the run would say before it starts. */
  readonly notices: readonly string[];
}

export interface PlannedStep extends PlannedNode {
  /**
   * Of a model stage: `reused`, the reply was recorded before a crash; `if-same`, results are recorded and one is reused where the stage is
   * asked the same; `executed`. Null: no model is asked.
   */
  readonly reply: 'reused' | 'if-same' | 'executed' | null;
}

/** Undefined when lint refused the graph. Throws what a run with these options would refuse to start with. */
export async function planPipeline(options: PipelineRunOptions): Promise<PipelinePlan | undefined> {
  const world = createLiveWorld({ ...options.io, environment: withoutSealingKey(options.environment), signal: options.signal });
  try {
    const { graph } = await loadGraph(options, world);
    if (!graph) return undefined;
    const plan = compilePipeline(graph, new Set(options.handlers?.keys() ?? []));
    const { recordable, secrets } = separateSecrets(options, graph);
    const store = readOnlyStore(await storeOf(recordable, world));
    const notices: string[] = [];
    const io = { ...options.io, stderr: (text: string) => void notices.push(text.trimEnd()) };
    const found = options.resume === undefined ? undefined : await findResumption({ ...recordable, io }, store, plan);
    const about = { pipeline: graph.name, name: options.name, notices };
    if (found && 'notice' in found)
      return { ...about, begins: 'nothing', resume: null, nodes: [], afterwards: [], notices: [...notices, found.notice] };
    const resumed = found && 'resumed' in found ? found.resumed : undefined;
    if (resumed) requireSecrets(resumed.state.given, secrets);
    const state = resumed?.state ?? graphState.initial();
    const enterAt = resumed?.enterAt ?? (found && 'enterAt' in found ? found.enterAt : undefined);
    const { nodes, afterwards } = stepsAhead(plan, state, enterAt);
    const recorded = await recordedStages(store, recordable);
    const mayReuse = options.checkpoint || (options.forks ?? []).length > 0 || (resumed?.replies.size ?? 0) > 0;
    const replyOf = ({ node, visit, callsModel }: PlannedNode): PlannedStep['reply'] => {
      if (!callsModel) return null;
      if ([...state.received.keys()].some((op) => op.startsWith(`main/${node}#${visit}/`))) return 'reused';
      return mayReuse && recorded.has(`${graph.name}.${node}`) ? 'if-same' : 'executed';
    };
    return {
      ...about,
      begins: resumed ? 'resumed' : 'anew',
      resume: resumed ? { run: state.runId ?? '', place: enterAt !== undefined || state.main.running ? 'at' : 'behind' } : null,
      nodes: nodes.map((step) => ({ ...step, reply: replyOf(step) })),
      afterwards,
    };
  } finally {
    await world.close('the plan is made');
  }
}

/** Functions of model stages that have a usable result, of this pipeline or of what is forked from. */
async function recordedStages(store: JournalStore, { project, file }: PipelineRunOptions): Promise<ReadonlySet<string>> {
  const { memo } = await loadWorkflow(store, workflowFor(project, file), { onDefect: () => undefined });
  return new Set([...usable(memo)].map(([, { fn }]) => fn));
}
