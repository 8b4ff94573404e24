/** What a server says of a pipeline run. Reference 13.2; members are named as there. */
import type { GateStatus } from '../../journal/graph-event.js';
import type { RunId } from '../../journal/ids.js';
import { gateStatuses, type GraphState } from '../../replay/graph-state.js';
import type { Followed } from './graph-follow.js';

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

export function statusOf(id: RunId, { state, finishedAt }: Followed, isGoing: boolean): PipelineStatus {
  const { main, pipeline, startedAt } = state;
  const status = wordFor(state, isGoing);
  return {
    id,
    pipeline_name: pipeline,
    status,
    current_node: main.running?.node ?? main.current ?? null,
    completed_nodes: main.history.length,
    started_at: startedAt,
    finished_at: status === 'running' ? null : (finishedAt ?? null),
    outcome: status === 'completed' ? 'success' : status === 'failed' ? 'fail' : null,
    goal_gate_status: gateStatuses(state),
  };
}

function wordFor({ status, error, questions }: GraphState, isGoing: boolean): PipelineStatus['status'] {
  switch (status) {
    case 'completed':
      return 'completed';
    case 'failed':
    case 'timed-out':
      return 'failed';
    case 'interrupted':
      return error?.code === 'CANCELLED' ? 'cancelled' : 'interrupted';
    case 'restarted': // the next run of the line is about to begin
      return isGoing ? 'running' : 'interrupted';
    case undefined:
      if (!isGoing) return 'interrupted';
      return questions.size > 0 ? 'waiting' : 'running';
  }
}
