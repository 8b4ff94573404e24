/**
 * Continues the branches of a parallel node in another visit or attempt of it: what ended is not executed again. graph-pipelines.md 10.3.
 *
 * CONTINUED-1  A branch that ended is kept as it ended. One that failed is entered again at the node with which it failed, as a run is.
 * CONTINUED-2  A branch that was cut off is entered at the node that it was in, as a new visit, so that no path names two executions.
 *              What the cut visit had received from outside goes over to the new one.
 */
import type { StageStatus } from '../../journal/facts/pipeline-event.js';
import type { OpPath } from '../../journal/ids.js';
import type { PipelineState } from './pipeline-state.js';
import { brokenVisit, type BrokenVisit, type Walk } from './walk.js';

/** Gives the visit that `walk` has just begun the branches of a broken one. Nothing of the broken visit may be used afterwards. */
export function continueBranches({ received }: PipelineState, walk: Walk, op: OpPath, { branches, replaced }: BrokenVisit): void {
  for (const [key, value] of Object.entries(replaced)) {
    if (value === undefined) delete walk.context[key];
    else walk.context[key] = value;
  }
  for (const [index, branch] of branches) walk.branches.set(index, continued(received, branch, `${op}[${index}]` as OpPath));
}

/** Lets the next attempt of the visit that `walk` is in continue the branches that the end of this one cut off. */
export function continueCutBranches({ received }: PipelineState, { branches }: Walk): void {
  for (const [index, branch] of branches) if (branch.running) branches.set(index, continued(received, branch, branch.path));
}

function continued(received: PipelineState['received'], walk: Walk, path: OpPath): Walk {
  const { running, next, outcome, history, failed, visits } = walk;
  if (running) {
    const { node, op, visit, retries } = running;
    visits.set(node, visit + 1);
    failed.set(node, brokenVisit(walk, running));
    handOver(received, `${op}/try#${retries + 1}/`, `${path}/${node}#${visit + 1}/try#1/`);
    return { ...walk, path, running: undefined, enterAt: node, isReentered: true, branches: new Map() };
  }
  const hasFailed = next === undefined && outcome !== undefined && (outcome.carried ?? outcome).status === 'fail';
  if (walk.enterAt !== undefined || !hasFailed) return { ...walk, path };
  return { ...walk, path, enterAt: history.findLast((visit) => visit.outcome === 'fail')?.node_id ?? walk.current, isReentered: true };
}

function handOver(received: PipelineState['received'], from: string, to: string): void {
  for (const [op, outcomes] of received) {
    if (!op.startsWith(from)) continue;
    received.delete(op);
    received.set(`${to}${op.slice(from.length)}` as OpPath, outcomes);
  }
}

/** Forgets what a visit that ended had received from outside. What branches of a failed parallel node had is kept for the next visit. */
export function forgetReceived({ received }: PipelineState, op: OpPath, status: StageStatus): void {
  if (received.size === 0) return;
  const isOver = (inner: OpPath): boolean => inner.startsWith(`${op}/`) || (status !== 'fail' && inner.startsWith(`${op}[`));
  for (const inner of received.keys()) if (isOver(inner)) received.delete(inner);
}
