/** What `--resume` means for a pipeline: where the new run begins, that there is nothing to do, or why it can't be. Reference 10.3. */
import type { JournalStore } from '../../journal/store.js';
import { MlldError } from '../errors.js';
import type { Plan } from '../graph/plan.js';
import { workflowFor } from '../project.js';
import type { GraphRunOptions } from '../run-graph-options.js';
import { newestChain, resumePoint, resumePointAt } from './graph-chain.js';
import { refuseEdited } from './graph-edited.js';
import type { Beginning } from './graph-start.js';

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
): Promise<Omit<Beginning, 'number'> | { readonly notice: string }> {
  const { name, resume: node = '' } = options;
  const chain = await newestChain(store, workflowFor(options.project, options.file));
  if (!chain) throw new MlldError('RESUME_NOTHING', `--resume: no earlier run of ${name}`, { hint: `start one: mlld run ${name}` });
  const { latest, state } = chain;
  const { run } = latest.ref;
  if (latest.liveness === 'running') {
    throw new MlldError('RESUME_RUNNING', `--resume: run ${run} of ${name} is still going on`, {
      hint: 'wait for its end, or interrupt it',
    });
  }
  if (node === '' && state.status === 'completed') return { notice: `run ${state.runId} is completed: there is nothing to resume` };
  if (node === '' && state.status === 'restarted' && state.restartAt !== undefined) return { restartOf: run, enterAt: state.restartAt };
  const resumed = node === '' ? resumePoint(chain) : await resumePointAt(store, chain, node);
  for (const line of refuseEdited(plan, resumed)) options.io.stderr(`${line}\n`);
  return { resumed };
}
