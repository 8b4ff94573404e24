/**
 * Whether a walk that goes on would fail before any stage has done its work: the process died between what made it fail and the end of its
 * run. A resume enters such a walk as it enters one that has failed. graph-pipelines.md 10.3.
 */
import { decide, type Decision } from './decide.js';
import { checkGates } from './gates.js';
import { NOTHING_BEFORE, outcomeOf, routed, routingOf } from '../model/outcome.js';
import type { Plan } from '../model/plan.js';
import type { StateView, WalkView } from './state.js';

/** The node to enter anew; undefined where the walk goes on by itself. */
export function stuckAt(plan: Plan, state: StateView): string | undefined {
  const { steps, jumps, main } = state;
  const decision = behindDiamonds(plan, main);
  const isSpent = jumps >= plan.jumpsMax;
  const { unmet } = checkGates(plan, state);
  const closed = unmet && (unmet.target === undefined || isSpent) ? unmet.node : undefined;
  switch (decision?.kind) {
    case 'fail':
      return main.history.findLast(({ outcome }) => outcome === 'fail')?.node_id ?? decision.node;
    case 'end':
      return closed ?? (unmet ? undefined : decision.node);
    case 'arrive':
    case 'go': {
      const target = decision.kind === 'go' ? decision.to : decision.node;
      if (isSpent && decision.kind === 'go' && (decision.via === 'retry_target' || decision.via === 'fallback_retry_target')) return target;
      if (target === plan.exit && unmet) return closed;
      return steps >= plan.stepsMax ? target : undefined;
    }
    default:
      return undefined;
  }
}

/** What is decided once the conditional nodes on the way have handed the outcome on. Undefined inside the visit of another node. */
function behindDiamonds(plan: Plan, main: WalkView): Decision | undefined {
  const passed = new Set<string>();
  let walk = main;
  for (;;) {
    if (walk.enterAt !== undefined || (walk.running && plan.handlerOf(walk.running.node) !== 'conditional')) return undefined;
    const decision = decide(plan, walk, plan.entry);
    const target = decision.kind === 'go' ? decision.to : decision.kind === 'arrive' ? decision.node : undefined;
    if (target === undefined || passed.has(target) || plan.handlerOf(target) !== 'conditional') return decision;
    passed.add(target);
    const outcome = outcomeOf('success', { carried: routingOf(walk.outcome ? routed(walk.outcome) : NOTHING_BEFORE) });
    walk = { ...walk, running: undefined, next: undefined, current: target, outcome };
  }
}
