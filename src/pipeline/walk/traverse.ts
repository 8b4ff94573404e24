/**
 * Walks the main path or a branch of a pipeline: decides, records, executes, until the walk ends. graph-pipelines.md 6.2.
 *
 * TRAVERSE-1 Every decision is made from what is recorded, so that a resume makes the same one.
 * TRAVERSE-2 A node is finished on disk before an edge is selected; the selection is recorded before its target starts.
 * TRAVERSE-3 The exit is entered only when the goal gates are met; it is then recorded like every node.
 */
import { decideNext, type Decision } from './decide.js';
import { checkGoalGates } from './goal-gates.js';
import type { PipelineRuntime } from './pipeline-runtime.js';
import { BranchCancelled, PipelineError } from '../model/outcome.js';
import type { WalkView } from '../stage/state-view.js';
import { commitExit, visit } from './visit.js';
import { walkOf, type WalkEnd, type WalkContext } from '../stage/walk-context.js';

/** Throws `PipelineError`, `BranchCancelled`, and whatever ends a run from outside. */
export async function traverse(run: PipelineRuntime, walking: WalkContext): Promise<WalkEnd> {
  const { bounds, signal } = walking;
  const { pipeline } = run;
  for (;;) {
    const walk = walkOf(run, walking);
    const decision = decideNext(pipeline, walk, bounds?.entry ?? pipeline.entry);
    switch (decision.kind) {
      case 'fail':
        return { kind: 'failed', reason: decision.reason, walk };
      case 'restart':
        return bounds
          ? { kind: 'failed', reason: 'a loop_restart edge can only be taken on the main path, not inside a branch', walk }
          : { kind: 'restarted', at: decision.node, walk };
      case 'go':
        go(run, walking, decision);
        break;
      case 'end': {
        if (bounds) return { kind: 'completed', walk };
        const ended = leaveThroughGates(run, walk);
        if (ended === 'jumps') break;
        const reason = ended === 'met' ? `no edge leads on from ${decision.node}: the exit was not reached` : ended.reason;
        return { kind: 'failed', reason, walk };
      }
      case 'done': // the run ended before it could record that
        return { kind: 'completed', walk };
      case 'arrive': {
        if (signal.aborted) throw new BranchCancelled(); // behind the record of the edge, so that a resume repeats no selection
        await run.frame.run.calls?.dispatcher.held(); // another process may have taken the run while a call of another branch is in flight
        const end = await arrive(run, walking, decision.node, walk);
        if (end) return end;
        break;
      }
    }
  }
}

async function arrive(run: PipelineRuntime, walking: WalkContext, node: string, walk: WalkView): Promise<WalkEnd | undefined> {
  const { bounds } = walking;
  if (bounds?.ends.has(node)) return { kind: 'completed', walk };
  if (bounds?.within.has(node))
    return { kind: 'failed', reason: `the branch ${bounds.branch.id} returned to ${node}, the parallel node that it belongs to`, walk };
  const isExit = !bounds && node === run.pipeline.exit;
  if (isExit) {
    const gates = leaveThroughGates(run, walk);
    if (gates === 'jumps') return undefined;
    if (gates !== 'met') return { kind: 'failed', reason: gates.reason, walk };
  }
  const { state } = run.ledger;
  if (state.steps >= run.pipeline.stepsMax) throw new PipelineError(`max_steps is reached: ${run.pipeline.stepsMax} nodes have finished`);
  if (isExit) {
    await commitExit(run, walking, node);
    return { kind: 'completed', walk };
  }
  if (bounds) run.turns.arrive(walk.path, { of: bounds.branch.of, node });
  await visit(run, walking, node);
  return undefined;
}

function go(run: PipelineRuntime, walking: WalkContext, { from, to, via, edge }: Extract<Decision, { kind: 'go' }>): void {
  const { bounds, frame } = walking;
  if (via === 'retry_target' || via === 'fallback_retry_target') refuseEndlessJumps(run);
  run.ledger.post({
    type: 'edge.selected',
    op: frame.op.path,
    from,
    to,
    via,
    ...(edge && edge.label !== '' ? { label: edge.label } : {}),
    ...(edge?.conditionText === undefined ? {} : { condition: edge.conditionText }),
    ...(edge?.fidelity === undefined ? {} : { fidelity: edge.fidelity }),
    ...(edge?.thread === undefined ? {} : { thread: edge.thread }),
    ...(bounds ? { branch: bounds.branch } : {}),
  });
  if (!bounds) run.checkpoint.update();
}

/** Checks the goal gates, and jumps to the retry target of an unmet one. */
function leaveThroughGates(run: PipelineRuntime, { path, current }: WalkView): 'met' | 'jumps' | { readonly reason: string } {
  const { pipeline, ledger } = run;
  const { gates, unmet } = checkGoalGates(pipeline, ledger.state);
  ledger.post({ type: 'gate.checked', op: path, satisfied: !unmet, gates, ...unmet });
  if (!unmet) return 'met';
  const { node, target } = unmet;
  if (target === undefined) return { reason: `goal gate not satisfied: ${node}` };
  refuseEndlessJumps(run);
  ledger.post({ type: 'edge.selected', op: path, from: current ?? node, to: target, via: 'gate' });
  run.checkpoint.update();
  return 'jumps';
}

function refuseEndlessJumps({ pipeline, ledger }: PipelineRuntime): void {
  if (ledger.state.jumps >= pipeline.jumpsMax)
    throw new PipelineError(`max_jumps is reached: the walk has jumped ${pipeline.jumpsMax} times`);
}
