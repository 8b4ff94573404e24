/** Reports how far a run of a pipeline is or was, node by node, and at which node a resume of it would continue. */
import type { EventOf } from '../../journal/event.js';
import type { NodeVisits, Visit } from './node-visits.js';
import { walkOf } from './node-visits.js';
import type { ReportedStatus } from '../fold/reported-status.js';

/** Durations in milliseconds. */
export interface PipelineProgress {
  /** In the order in which they began; those in branches have a longer `op`. */
  readonly nodes: readonly NodeProgress[];
  /** The goal gate that stopped the run. */
  readonly unmetGate: string | undefined;
  /** Questions to people that had no answer yet. */
  readonly questions: readonly OpenQuestion[];
  /** A resume continues at this node, or behind it. Undefined: it begins anew, or there is nothing left to do. */
  readonly resume: { readonly node: string; readonly place: 'at' | 'behind' } | undefined;
}

/** A question to people that has no answer yet. */
export interface OpenQuestion {
  readonly id: string;
  readonly node: string;
  readonly text: string;
  readonly options: readonly { readonly key: string; readonly label: string }[];
  /** ISO 8601, UTC. */
  readonly asked: string;
  readonly waitedMs: number;
}

export interface NodeProgress {
  readonly op: string;
  readonly node: string;
  /** From 0. */
  readonly visit: number;
  /** `running`: it had begun, and the record has no end of it. */
  readonly status: NonNullable<Visit['status']> | 'running';
  readonly attempts: number;
  readonly durationMs: number;
  readonly reason: string;
}

interface Ended {
  readonly status: ReportedStatus;
  /** It failed at a limit of jumps or nodes. */
  readonly isAtLimit: boolean;
  /** The time of the last event, or the present of a run that is in flight. */
  readonly untilMs: number;
}

export function pipelineProgress({ visits, gates, questions }: NodeVisits, { untilMs, ...end }: Ended): PipelineProgress {
  const all = [...visits.values()];
  const unmet = gates && !gates.satisfied && gates.target === undefined ? gates : undefined;
  const unmetGate = unmet?.node;
  return {
    nodes: all.map(({ op, node, visit, status: ended, attempts, elapsedMs, reason, startedMs }) => ({
      op,
      node,
      visit,
      status: ended ?? 'running',
      attempts,
      durationMs: elapsedMs ?? untilMs - startedMs,
      reason,
    })),
    unmetGate,
    questions: openQuestions(questions.values(), untilMs),
    resume: resumePlace(all, end, unmet?.within ?? unmetGate),
  };
}

export function openQuestions(asked: Iterable<EventOf<'question.asked'>>, untilMs: number): readonly OpenQuestion[] {
  return Array.from(asked, ({ id, node, text, options, ts }) => ({
    id,
    node,
    text,
    options: options.map(({ key, label }) => ({ key, label })),
    asked: ts,
    waitedMs: Math.max(0, untilMs - Date.parse(ts)),
  }));
}

/** A failed run continues at the node that failed, or at its dead end; an interrupted one behind its last visit or at the one in flight. */
function resumePlace(
  visits: readonly Visit[],
  { status, isAtLimit }: Omit<Ended, 'untilMs'>,
  gate: string | undefined,
): PipelineProgress['resume'] {
  if (status === 'completed' || status === 'restarted' || status === 'running') return undefined;
  const main = visits.filter(({ op }) => walkOf(op) === 'main');
  const last = main.at(-1);
  if (gate !== undefined) return { node: gate, place: 'at' };
  if (last === undefined) return undefined;
  if (isAtLimit && last.next) return { node: last.next.to, place: 'at' };
  if (last.status === undefined) return { node: last.node, place: 'at' };
  // A run that failed and was killed before it recorded that counts as failed.
  const isStuck = status === 'failed' || (last.status === 'fail' && last.next === undefined);
  const isDeadEnd = last.routedBy !== 'fail' && last.next === undefined;
  const failed = isStuck ? ((isDeadEnd ? undefined : main.findLast((visit) => visit.status === 'fail')) ?? last) : undefined;
  return failed ? { node: failed.node, place: 'at' } : { node: last.node, place: 'behind' };
}
