/** What `--resume` means for a pipeline: where the new run begins, that there is nothing to do, or why it can't be. Reference 10.3. */
import path from 'node:path';
import type { JournalStore } from '../../../journal/store.js';
import type { GraphState } from '../../../replay/graph-state.js';
import { MlldError } from '../../errors.js';
import type { Plan } from '../../graph/plan.js';
import { workflowFor } from '../../project.js';
import type { GraphRunOptions } from '../../run-graph-options.js';
import { isChildOf, newestChain, resumePoint, resumePointAt } from './chain.js';
import { refuseEdited } from './edited.js';
import { restartOf, type Beginning, type Restart } from './start.js';

/** From looking what there is to resume until that has begun; gives what ends it. */
export async function turnToResume({ resume, project, file }: GraphRunOptions, store: JournalStore): Promise<() => Promise<void>> {
  const workflow = workflowFor(project, file);
  const isThereAny = resume !== undefined && (await store.runs(workflow)).length > 0;
  return isThereAny ? store.takeTurn(workflow) : async () => {};
}

/** Throws RESUME_NOTHING, RESUME_RUNNING, RESUME_NODE, RESUME_GRAPH. */
export async function resumption(
  options: GraphRunOptions,
  store: JournalStore,
  plan: Plan,
): Promise<Pick<Beginning, 'resumed'> | Restart | { readonly notice: string }> {
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
  for (const line of untaken(options, state)) io.stderr(`${line}\n`);
  const resumed = node === '' ? resumePoint(chain) : await resumePointAt(store, chain, node);
  for (const line of refuseEdited(plan, resumed)) io.stderr(`${line}\n`);
  return { resumed };
}

/** Lines about what a resumed run would have to be given anew: it goes on with the context and in the folder that it has. */
function untaken({ set, runDirectory, workingDirectory, project }: GraphRunOptions, { given, runDir }: GraphState): readonly string[] {
  const known = given as GraphRunOptions['set'];
  const others = Object.keys(set).filter((key) => known[key] !== set[key]);
  const lines = others.map((key) => `warning: --set ${key}=${set[key]} has no effect: a resumed run goes on with the context that it has`);
  const folder = path.resolve(project.root, runDir);
  const wanted = runDirectory === undefined ? folder : path.resolve(workingDirectory, runDirectory);
  if (wanted !== folder && !folder.startsWith(`${wanted}.`))
    lines.push(`warning: --run-dir ${runDirectory} has no effect: a resumed run goes on in ${runDir}`);
  return lines;
}
