/** Folds the visits of nodes in one run of a pipeline, its gates and the questions to people. */
import type { EventOf, Json } from '../../journal/event.js';
import type { StageOutcome, StageStatus } from '../../journal/facts/pipeline-event.js';
import type { OpPath, Seq } from '../../journal/ids.js';
import type { Projection } from '../fold/projection.js';
import { closeQuestions } from './walk.js';

export interface Visit {
  readonly op: OpPath;
  readonly node: string;
  /** From 0. */
  readonly visit: number;
  readonly seq: Seq;
  readonly startedMs: number;
  /** Undefined: it has not ended. */
  status: StageStatus | undefined;
  /** The status that chose the next edge: for a conditional node that of the outcome it hands on. */
  routedBy: StageStatus | undefined;
  attempts: number;
  elapsedMs: number | undefined;
  /** The reason of its failure or of its retry. */
  reason: string;
  updates: StageOutcome['context_updates'];
  /** The edge that the walk took from it. */
  next: Pick<EventOf<'edge.selected'>, 'to' | 'via'> | undefined;
}

export interface NodeVisits {
  readonly visits: Map<OpPath, Visit>;
  /** By walk: the visit that ended last. */
  readonly latest: Map<string, Visit>;
  /** The last look at the goal gates. */
  gates: EventOf<'gate.checked'> | undefined;
  readonly questions: Map<string, EventOf<'question.asked'>>;
  /** Context values from the command line and the graph. */
  inputs: { readonly [key: string]: Json };
}

export const nodeVisits: Projection<NodeVisits> = {
  initial: () => ({ visits: new Map(), latest: new Map(), gates: undefined, questions: new Map(), inputs: {} }),
  apply(state, event) {
    switch (event.type) {
      case 'node.started': {
        const { op, node, visit, seq, ts } = event;
        const begun = { op, node, visit, seq, startedMs: Date.parse(ts), attempts: 1, elapsedMs: undefined };
        state.visits.set(op, { ...begun, status: undefined, routedBy: undefined, reason: '', updates: {}, next: undefined });
        return state;
      }
      case 'retry.scheduled': {
        closeQuestions(state.questions, event.op);
        const visit = state.visits.get(event.op);
        if (visit) [visit.attempts, visit.reason] = [event.attempt + 1, event.reason];
        return state;
      }
      case 'node.finished': {
        const { op, status, attempts, elapsedMs, outcome } = event;
        closeQuestions(state.questions, op);
        const visit = state.visits.get(op);
        if (!visit) return state;
        const { failure_reason: reason, context_updates: updates, carried } = outcome;
        Object.assign(visit, { status, routedBy: (carried ?? outcome).status, attempts, elapsedMs, reason, updates });
        state.latest.set(walkOf(op), visit);
        return state;
      }
      case 'op.finished': {
        // A visit that was cut off has no end of its own.
        const visit = state.visits.get(event.op);
        if (visit && visit.status === undefined) visit.elapsedMs = Date.parse(event.ts) - visit.startedMs;
        return state;
      }
      case 'edge.selected': {
        const visit = state.latest.get(event.op);
        if (visit?.node === event.from) visit.next = { to: event.to, via: event.via };
        return state;
      }
      case 'gate.checked':
        state.gates = event;
        return state;
      case 'question.asked':
        state.questions.set(event.id, event);
        return state;
      case 'question.answered':
        state.questions.delete(event.id);
        return state;
      case 'context.updated':
        state.inputs = { ...state.inputs, ...event.updates };
        return state;
      default:
        return state;
    }
  },
};

/** `main/work#0` is a step of `main`, `main/fan#0[1]/a#0` one of the branch `main/fan#0[1]`. */
export function walkOf(op: OpPath): string {
  return op.slice(0, op.lastIndexOf('/'));
}
