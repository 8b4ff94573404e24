/** What a server says of a pipeline run. graph-pipelines.md 13.2; members are named as there. */
import type { GateStatus } from '../../../../journal/pipeline-event.js';
import type { RunId } from '../../../../journal/ids.js';
import type { RunFile } from '../../../../journal/store.js';
import { currentNode, gateStatuses, type GraphState } from '../../../../replay/pipeline/graph-state.js';
import type { FollowedRun } from './follow-run.js';
import type { LogicalRun } from './logical-run.js';

export interface PipelineStatus {
  readonly id: RunId;
  readonly pipeline_name: string;
  /** `waiting`: somebody is asked something. `interrupted`: the process ended or died; a resume goes on. */
  readonly status: 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'interrupted';
  /** The one that runs, else the one that finished last. */
  readonly current_node: string | null;
  /** Finished visits on the main path. */
  readonly completed_nodes: number;
  /** ISO 8601, UTC. */
  readonly started_at: string;
  /** Null while it goes on, and when it was killed. */
  readonly finished_at: string | null;
  /** Null unless it came to an end of its own. */
  readonly outcome: 'success' | 'fail' | null;
  readonly goal_gate_status: { readonly [node: string]: GateStatus };
}

export function statusOf(id: RunId, { state, finishedAt }: FollowedRun, isGoing: boolean): PipelineStatus {
  const { main, pipeline, startedAt } = state;
  const status = wordFor(state, isGoing);
  return {
    id,
    pipeline_name: pipeline,
    status,
    current_node: currentNode(state) ?? null,
    completed_nodes: main.history.length,
    started_at: startedAt,
    finished_at: status === 'running' ? null : (finishedAt ?? null),
    outcome: outcomeFor(status),
    goal_gate_status: gateStatuses(state),
  };
}

/** The same of a line whose last run ended in order, which its first and last events tell; undefined where they are of an older program. */
export function statusAtEnd({ id, begun }: LogicalRun, { finished }: RunFile, isGoing: boolean): PipelineStatus | undefined {
  if (finished?.totals.nodes === undefined || finished.gates === undefined) return undefined;
  const status = wordFor({ ...finished, questions: NO_QUESTIONS }, isGoing);
  return {
    id,
    pipeline_name: begun.pipeline ?? '',
    status,
    current_node: finished.node ?? null,
    completed_nodes: finished.totals.nodes,
    started_at: begun.ts,
    finished_at: status === 'running' ? null : finished.ts,
    outcome: outcomeFor(status),
    goal_gate_status: finished.gates,
  };
}

const NO_QUESTIONS = { size: 0 };

function outcomeFor(status: PipelineStatus['status']): PipelineStatus['outcome'] {
  return status === 'completed' ? 'success' : status === 'failed' ? 'fail' : null;
}

interface EndedState extends Partial<Pick<GraphState, 'status' | 'error'>> {
  readonly questions: { readonly size: number };
}

function wordFor({ status, error, questions }: EndedState, isGoing: boolean): PipelineStatus['status'] {
  switch (status) {
    case 'completed':
      return 'completed';
    case 'failed':
    case 'timed-out':
      return 'failed';
    case 'interrupted':
      return error?.code === 'CANCELLED' ? 'cancelled' : 'interrupted';
    case 'paused':
      return 'interrupted';
    case 'restarted': // the next run of the line is about to begin
      return isGoing ? 'running' : 'interrupted';
    case undefined:
      if (!isGoing) return 'interrupted';
      return questions.size > 0 ? 'waiting' : 'running';
  }
}
