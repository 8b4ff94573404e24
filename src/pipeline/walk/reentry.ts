/**
 * Finds walks that would fail before any stage runs, because the process died between the cause of the failure and the end of the run. A
 * resume enters such a walk as it enters one that has failed. graph-pipelines.md 10.3.
 */
import { decideNext, type Decision } from './decide.js';
import { checkGoalGates } from './goal-gates.js';
import { INITIAL_ROUTING, outcomeOf, effectiveRouting, routingOf } from '../model/outcome.js';
import type { CompiledPipeline } from '../model/compiled-pipeline.js';
import type { StateView, WalkView } from '../stage/state-view.js';

/** Returns the node to enter again; undefined where the walk can continue by itself. */
export function nodeToReenter(pipeline: CompiledPipeline, state: StateView): string | undefined {
  const { steps, jumps, main } = state;
  const decision = decisionAfterConditionals(pipeline, main);
  const isSpent = jumps >= pipeline.jumpsMax;
  const { unmet } = checkGoalGates(pipeline, state);
  const closed = unmet && (unmet.target === undefined || isSpent) ? (unmet.within ?? unmet.node) : undefined;
  switch (decision?.kind) {
    case 'fail':
      return main.history.findLast(({ outcome }) => outcome === 'fail')?.node_id ?? decision.node;
    case 'end':
      return closed ?? (unmet ? undefined : decision.node);
    case 'arrive':
    case 'go': {
      const target = decision.kind === 'go' ? decision.to : decision.node;
      if (isSpent && decision.kind === 'go' && (decision.via === 'retry_target' || decision.via === 'fallback_retry_target')) return target;
      if (target === pipeline.exit && unmet) return closed;
      return steps >= pipeline.stepsMax ? target : undefined;
    }
    default:
      return undefined;
  }
}

/** Returns the decision after the conditional nodes on the way, which pass the outcome on. Undefined during the visit of another node. */
function decisionAfterConditionals(pipeline: CompiledPipeline, main: WalkView): Decision | undefined {
  const passed = new Set<string>();
  let walk = main;
  for (;;) {
    if (walk.enterAt !== undefined || (walk.running && pipeline.handlerOf(walk.running.node) !== 'conditional')) return undefined;
    const decision = decideNext(pipeline, walk, pipeline.entry);
    const target = decision.kind === 'go' ? decision.to : decision.kind === 'arrive' ? decision.node : undefined;
    if (target === undefined || passed.has(target) || pipeline.handlerOf(target) !== 'conditional') return decision;
    passed.add(target);
    const outcome = outcomeOf('success', { carried: routingOf(walk.outcome ? effectiveRouting(walk.outcome) : INITIAL_ROUTING) });
    walk = { ...walk, running: undefined, next: undefined, current: target, outcome };
  }
}
