/** Plans the child pipeline that a manager node would start or continue. graph-pipelines.md 7.8, 13.1. */
import type { OpPath, RunId } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import type { PipelineState } from '../../../replay/pipeline/pipeline-state.js';
import type { VisitInRuns } from '../../../replay/pipeline/walk.js';
import { messageOf } from '../../errors.js';
import { displayPath } from '../../language/paths.js';
import { childFile, MANAGER_TYPE, startsChild } from '../../pipeline/handlers/manager-loop.js';
import type { CompiledPipeline } from '../../pipeline/model/compiled-pipeline.js';
import type { PlannedNode } from '../../pipeline/walk/steps-ahead.js';
import { baseFolder, workflowFor } from '../project.js';
import { DEPTH_MAX, hasEnded } from './child-runs.js';
import { childToContinue } from './history/chain.js';
import type { PipelinePlan, PlannedChild } from './plan-pipeline.js';
import type { PipelineRunOptions } from './run-pipeline-options.js';

/** The run that the plan is of has no id: nothing is recorded. */
const NO_RUN = '' as RunId;

interface Manager {
  readonly options: PipelineRunOptions;
  readonly plan: CompiledPipeline;
  readonly store: JournalStore;
  readonly state: PipelineState;
  /** The step is the first one of a resume, where the child of the visit that it continues or repeats is continued. */
  readonly isContinued: boolean;
  /** Lines that the child's run would write go here. */
  readonly notices: string[];
}

/** Undefined for other nodes, and for a manager that watches a run of which nothing is known before. */
export async function planChild(
  { options, plan, store, state, isContinued, notices }: Manager,
  { node, op, handler }: PlannedNode,
  planIn: (options: PipelineRunOptions) => Promise<PipelinePlan | undefined>,
): Promise<PlannedChild | undefined> {
  if (handler !== MANAGER_TYPE || !startsChild(plan.node(node))) return undefined;
  const file = childFile(plan.graph, baseFolder(options.project, options.file));
  if (file === undefined) return { name: '', problem: 'stack.child_dotfile names no file' };
  const name = displayPath(file, { workingDirectory: options.workingDirectory });
  const depth = (options.parent?.depth ?? 0) + 1;
  if (file === options.file) return { name, problem: 'it starts itself' };
  if (depth > DEPTH_MAX) return { name, problem: `pipelines are nested more than ${DEPTH_MAX} deep` };
  const around = attemptOf(state, { node, op }, isContinued);
  const at = { node, depth, within: undefined, ...around };
  const parent = { run: state.runId ?? NO_RUN, ...(state.journalRun !== undefined && { journalRun: state.journalRun }), ...at };
  const earlier =
    isContinued && state.runId !== undefined ? await childToContinue(store, workflowFor(options.project, file), parent) : undefined;
  if (earlier && hasEnded(earlier)) return { name, begins: 'nothing', nodes: [], afterwards: [] };
  const { resume: _, runDirectory: __, onFindings: ___, ...inherited } = options;
  try {
    const found = await planIn({ ...inherited, file, name, argv: [], set: {}, parent, ...(earlier && { resume: '' }) });
    if (!found) throw new Error('the plan of a child that was not refused is missing');
    notices.push(...found.notices);
    return { name, begins: found.begins, nodes: found.nodes, afterwards: found.afterwards };
  } catch (error) {
    return { name, problem: messageOf(error) };
  }
}

/** Returns the attempt that the manager would make, and the visits whose child it continues. */
function attemptOf(
  { main }: PipelineState,
  { node, op }: Pick<PlannedNode, 'node' | 'op'>,
  isContinued: boolean,
): { op: OpPath; visit?: VisitInRuns } {
  const { running } = main;
  if (running?.op === op) return { op: `${op}/try#${running.retries + 1}` as OpPath, visit: running };
  const failed = isContinued ? main.failed.get(node) : undefined;
  return { op: `${op}/try#1` as OpPath, visit: { op, runs: [], repeats: failed ? [failed, ...failed.repeats] : [] } };
}
