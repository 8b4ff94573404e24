/** Compares the walks of two runs of pipelines: visits are aligned by their place, which counts the visits of a node. */
import type { Json } from '../../../journal/event.js';
import type { NodeVisits, Visit } from '../../pipeline/node-visits.js';
import { inExecutionOrder } from '../../fold/execution-order.js';

export type NodeChange = 'status' | 'attempts' | 'context' | 'way';

export interface NodeSide {
  readonly op: string;
  readonly node: string;
  /** From 0. */
  readonly visit: number;
  /** `unfinished`: it began, and the record has no end of it. */
  readonly status: NonNullable<Visit['status']> | 'unfinished';
  readonly attempts: number;
  readonly reason: string;
  /** The next node of the walk. */
  readonly to: string | null;
}

/** A context key; undefined on a side that did not set it. */
export interface ContextChange {
  readonly key: string;
  readonly left: Json | undefined;
  readonly right: Json | undefined;
}

export interface NodePair {
  readonly left: NodeSide;
  readonly right: NodeSide;
  readonly changes: readonly NodeChange[];
  readonly context: readonly ContextChange[];
}

export interface NodesDiff {
  readonly same: number;
  readonly changed: readonly NodePair[];
  readonly onlyLeft: readonly NodeSide[];
  readonly onlyRight: readonly NodeSide[];
  /** Differences in what the graph and the command line put into the context at the start. */
  readonly inputs: readonly ContextChange[];
  /** Goal gates that are not satisfied at the end. */
  readonly unmet: { readonly left: readonly string[]; readonly right: readonly string[] };
}

export function diffNodes(left: NodeVisits, right: NodeVisits): NodesDiff {
  const pairs: NodePair[] = [];
  for (const [op, ours] of left.visits) {
    const theirs = right.visits.get(op);
    if (theirs) pairs.push(compared(ours, theirs));
  }
  const without = (visits: NodeVisits['visits'], other: NodeVisits['visits']): readonly NodeSide[] =>
    [...visits].filter(([op]) => !other.has(op)).map(([, visit]) => sideOf(visit));
  const changed = pairs.filter(({ changes }) => changes.length > 0);
  return {
    same: pairs.length - changed.length,
    changed,
    onlyLeft: without(left.visits, right.visits),
    onlyRight: without(right.visits, left.visits),
    inputs: inputChanges(left, right),
    unmet: { left: unmetOf(left), right: unmetOf(right) },
  };
}

/** The point at which two walks stop being the same. */
export interface NodesFork {
  /** Visits that both have in common before they part, in the order of the pipeline. */
  readonly common: number;
  readonly last: NodeSide | null;
  /** The next visit of each; null: nothing more. Both null: they never part. */
  readonly nextLeft: NodeSide | null;
  readonly nextRight: NodeSide | null;
  /** The difference of the next visit, when it is the same one. */
  readonly changed: NodePair | null;
  /** Differences in the initial context; they part there when it differs. */
  readonly inputs: readonly ContextChange[];
}

/** Time plays no part: branches side by side are taken in the order of the pipeline. */
export function forkOfNodes(left: NodeVisits, right: NodeVisits): NodesFork {
  const [ours, theirs] = [inExecutionOrder([...left.visits.values()]), inExecutionOrder([...right.visits.values()])];
  const inputs = inputChanges(left, right);
  let common = 0;
  while (inputs.length === 0 && isSameVisit(ours[common], theirs[common])) common++;
  const [last, one, other] = [ours[common - 1], ours[common], theirs[common]];
  return {
    common,
    last: last ? sideOf(last) : null,
    nextLeft: one ? sideOf(one) : null,
    nextRight: other ? sideOf(other) : null,
    changed: one && other && one.op === other.op && !isSameVisit(one, other) ? compared(one, other) : null,
    inputs,
  };
}

function isSameVisit(one: Visit | undefined, other: Visit | undefined): boolean {
  return one !== undefined && other !== undefined && one.op === other.op && compared(one, other).changes.length === 0;
}

export function areNodesSame({ changed, onlyLeft, onlyRight, inputs, unmet }: NodesDiff): boolean {
  return changed.length + onlyLeft.length + onlyRight.length + inputs.length === 0 && unmet.left.join() === unmet.right.join();
}

function compared(ours: Visit, theirs: Visit): NodePair {
  const context = contextChanges(ours.updates, theirs.updates);
  const [left, right] = [sideOf(ours), sideOf(theirs)];
  const changes: NodeChange[] = [];
  if (left.status !== right.status || left.reason !== right.reason) changes.push('status');
  if (left.attempts !== right.attempts) changes.push('attempts');
  if (context.length > 0) changes.push('context');
  if (left.to !== right.to) changes.push('way');
  return { left, right, changes, context };
}

function sideOf({ op, node, visit, status, attempts, reason, next }: Visit): NodeSide {
  return { op, node, visit, status: status ?? 'unfinished', attempts, reason, to: next?.to ?? null };
}

function contextChanges(left: Visit['updates'], right: Visit['updates']): readonly ContextChange[] {
  const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])].sort();
  return keys
    .map((key) => ({ key, left: left[key], right: right[key] }))
    .filter(({ left: ours, right: theirs }) => JSON.stringify(ours) !== JSON.stringify(theirs));
}

/** A run that resumed another one goes on with what that was started with, and records nothing of it. */
function inputChanges({ inputs: left }: NodeVisits, { inputs: right }: NodeVisits): readonly ContextChange[] {
  return 'graph.goal' in left === 'graph.goal' in right ? contextChanges(left, right) : [];
}

function unmetOf({ gates }: NodeVisits): readonly string[] {
  return Object.entries(gates?.gates ?? {}).flatMap(([node, status]) => (status === 'satisfied' ? [] : [node]));
}
