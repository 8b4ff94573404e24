/**
 * Continues the branches of a parallel node in another visit or attempt of it: what ended is not executed again. graph-pipelines.md 10.3.
 *
 * CONTINUED-1  A branch that ended is kept as it ended. One that failed is entered again at the node with which it failed, as a run is.
 * CONTINUED-2  A branch that was cut off is entered at the node that it was in, as a new visit, so that no path names two executions.
 *              What the cut visit had received from outside goes over to the new one.
 * CONTINUED-3  A parallel node that did not fail is continued for the goal gates in its branches that are not met: the branches with such a
 *              gate are entered at it. All others are kept as they ended, failed ones too.
 */
import type { EventOf, Json } from '../../journal/event.js';
import { gateStatusAfter } from '../../journal/facts/pipeline-event.js';
import type { OpPath } from '../../journal/ids.js';
import type { PipelineState } from './pipeline-state.js';
import { brokenVisit, type BrokenVisit, type Running, type Walk } from './walk.js';

/** Keeps of a visit that ends what a later one may continue: all of it where it failed, or where a gate in its branches is not met. */
export function keepBroken(state: PipelineState, walk: Walk, event: EventOf<'node.finished'>, updates: { [key: string]: Json }): void {
  const { node, status } = event;
  const visit = walk.running ?? lostVisit(event);
  if (status === 'fail') walk.failed.set(node, brokenVisit(walk, visit, replacedBy(walk, updates)));
  else if (walk.branches.size > 0 && unmetGates(state).some((gate) => isInBranches(walk.branches, gate)))
    walk.failed.set(node, { ...brokenVisit(walk, visit), context: { ...walk.context } });
  else walk.failed.delete(node);
}

function replacedBy({ branches, context }: Walk, updates: { readonly [key: string]: Json }): BrokenVisit['replaced'] {
  return branches.size === 0 ? {} : Object.fromEntries(Object.keys(updates).map((key) => [key, context[key]]));
}

/** The beginning of the visit is lost. */
function lostVisit({ op, node, visit }: EventOf<'node.finished'>): Running {
  return { op, node, visit, retries: 0, answered: 0, runs: [], repeats: [] };
}

/** In the order in which they were visited first. */
function unmetGates({ gates, results }: PipelineState): readonly string[] {
  if (gates.length === 0) return gates;
  return [...results].flatMap(([node, status]) => (gates.includes(node) && gateStatusAfter(status) === 'unsatisfied' ? [node] : []));
}

function isInBranches(branches: ReadonlyMap<number, Walk>, gate: string): boolean {
  return [...branches.values()].some((branch) => branch.running?.node === gate || stepToGate(branch, gate) !== undefined);
}

/** Returns the node of the walk that is the gate or has it in its branches, whichever ended last. */
function stepToGate({ latest, failed }: Walk, gate: string): string | undefined {
  return [...latest.keys()].findLast((node) => node === gate || isInBranches(failed.get(node)?.branches ?? new Map(), gate));
}

/** Forgets that a gate in the branches of a node is not met, when the walk comes to the node by itself: that visit begins them anew. */
export function forgetGates({ failed }: Walk, node: string): void {
  if (failed.get(node)?.context !== undefined) failed.delete(node);
}

/** Gives the visit that `walk` has just begun the branches of a broken one. Nothing of the broken visit may be used afterwards. */
export function continueBranches(state: PipelineState, walk: Walk, op: OpPath, { branches, replaced, context }: BrokenVisit): void {
  setAll(walk.context, context === undefined ? replaced : inPlaceOf(walk.context, context));
  for (const [index, branch] of branches) {
    const path = `${op}[${index}]` as OpPath;
    walk.branches.set(index, context === undefined ? continued(state.received, branch, path) : backAtGate(state, branch, path));
  }
}

function setAll(context: Walk['context'], values: BrokenVisit['replaced']): void {
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) delete context[key];
    else context[key] = value;
  }
}

/** Leaves out the counters of the engine, which go on. */
function inPlaceOf(context: Walk['context'], earlier: Walk['context']): BrokenVisit['replaced'] {
  const keys = [...Object.keys(context), ...Object.keys(earlier)].filter((key) => !key.startsWith('internal.'));
  return Object.fromEntries(keys.map((key) => [key, earlier[key]]));
}

/** CONTINUED-3 */
function backAtGate(state: PipelineState, walk: Walk, path: OpPath): Walk {
  if (walk.running) return continued(state.received, walk, path);
  const [step] = unmetGates(state).flatMap((gate) => stepToGate(walk, gate) ?? []);
  return step === undefined ? { ...walk, path } : { ...walk, path, next: undefined, enterAt: step, isReentered: true };
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

/** Forgets what a visit that ended had received from outside. What branches of a broken one had is kept for the next visit. */
export function forgetReceived({ received }: PipelineState, { failed }: Walk, { op, node }: EventOf<'node.finished'>): void {
  if (received.size === 0) return;
  const isOver = (inner: OpPath): boolean => inner.startsWith(`${op}/`) || (!failed.has(node) && inner.startsWith(`${op}[`));
  for (const inner of received.keys()) if (isOver(inner)) received.delete(inner);
}
