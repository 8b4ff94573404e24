/** Folds the events of a run into the state of its nodes. */
import type { JournalEvent } from '../../journal/event.js';
import type { NodeState } from '../../src/pipeline/render/node-state.js';

export interface Visit {
  readonly visit: number;
  readonly status: string;
  readonly attempts: number;
  readonly elapsedMs: number;
  readonly notes: string;
  readonly failure: string;
  readonly output: string;
}

export interface NodeView {
  readonly id: string;
  handler: string;
  state: NodeState['status'];
  /** The retries of the visit in flight. */
  retries: readonly string[];
  /** The finished visits, the latest last. */
  readonly visits: Visit[];
  visitCount: number;
}

const VISITS_MAX = 20;

export type Nodes = Map<string, NodeView>;

/** Applies an event, and returns the node that it changed. */
export function applyTo(nodes: Nodes, event: JournalEvent): NodeView | undefined {
  switch (event.type) {
    case 'run.started':
      if (event.restartOf !== undefined) nodes.clear();
      return undefined;
    case 'node.started': {
      const node = nodeIn(nodes, event.node);
      node.handler = event.handler;
      node.state = 'running';
      node.retries = [];
      return node;
    }
    case 'retry.scheduled': {
      const node = nodeIn(nodes, event.node);
      node.retries = [...node.retries, `${event.reason} (again in ${event.delayMs} ms)`];
      return node;
    }
    case 'node.finished': {
      const node = nodeIn(nodes, event.node);
      const { visit, status, attempts, elapsedMs, outcome } = event;
      node.state = status;
      node.visitCount += 1;
      node.visits.push({
        visit,
        status,
        attempts,
        elapsedMs,
        notes: outcome.notes,
        failure: outcome.failure_reason,
        output: event.excerpt ?? outputIn(outcome.context_updates),
      });
      if (node.visits.length > VISITS_MAX) node.visits.shift();
      return node;
    }
    default:
      return undefined;
  }
}

/** Marks nodes that had started and not ended as interrupted, because the run has ended. */
export function endOf(nodes: Nodes): void {
  for (const node of nodes.values()) if (node.state === 'running') node.state = 'interrupted';
}

function nodeIn(nodes: Nodes, id: string): NodeView {
  const known = nodes.get(id);
  if (known) return known;
  const node: NodeView = { id, handler: '', state: 'running', retries: [], visits: [], visitCount: 0 };
  nodes.set(id, node);
  return node;
}

function outputIn(updates: { readonly [key: string]: unknown }): string {
  const found = updates['tool.output'] ?? updates['last_response'] ?? updates['human.gate.label'];
  return typeof found === 'string' ? found : '';
}
