/** Where the branches of a parallel node meet. Reference 7.5. */
import type { Plan } from './plan.js';

/** The node at which the walk goes on: the fan-in they meet, else the exit when one of them can reach it. */
export function joinOf(plan: Plan, parallel: string): string | undefined {
  return meetingPoint(plan, parallel, new Set());
}

/** `around` are the parallel nodes that are being looked at: a drawing may lead back into one. */
function meetingPoint(plan: Plan, parallel: string, around: Set<string>): string | undefined {
  if (around.has(parallel)) return undefined;
  around.add(parallel);
  const seen = new Set<string>();
  const open = plan.outgoing(parallel).map(({ to }) => to);
  let reachesExit = false;
  let join: string | undefined;
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (seen.has(id) || id === parallel) continue;
    seen.add(id);
    if (id === plan.exit) reachesExit = true;
    else if (plan.handlerOf(id) === 'parallel.fan_in') join ??= id;
    else open.push(...next(plan, id, around));
  }
  around.delete(parallel);
  return join ?? (reachesExit ? plan.exit : undefined);
}

/** A nested parallel node is one step to its own join. */
function next(plan: Plan, id: string, around: Set<string>): readonly string[] {
  if (plan.handlerOf(id) !== 'parallel') return plan.outgoing(id).map(({ to }) => to);
  const join = meetingPoint(plan, id, around);
  if (join === undefined || join === plan.exit) return join === undefined ? [] : [join];
  return plan.outgoing(join).map(({ to }) => to);
}
