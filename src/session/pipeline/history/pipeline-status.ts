/** Computes the status of a pipeline run that a server reports. graph-pipelines.md 13.2 names its members. */
import type { GateStatus } from '../../../../journal/facts/pipeline-event.js';
import type { RunId } from '../../../../journal/ids.js';
import type { RunFile } from '../../../../journal/store.js';
import { recordedCounts, type RecordedCounts } from '../../../../replay/fold/recorded-counts.js';
import { currentNode, gateStatuses, type PipelineState } from '../../../../replay/pipeline/pipeline-state.js';
import { addRun } from './chain-counts.js';
import type { FollowedRun } from './follow-run.js';
import type { LogicalRun } from './logical-run.js';

export interface PipelineStatus {
  readonly id: RunId;
  readonly pipeline_name: string;
  /** `waiting`: a question waits for an answer. `interrupted`: the process ended or died; a resume continues the run. */
  readonly status: 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'interrupted';
  /** The node that is running, else the one that finished last. */
  readonly current_node: string | null;
  /** Finished visits on the main path. */
  readonly completed_nodes: number;
  /** ISO 8601, UTC. */
  readonly started_at: string;
  /** Null while the run is running, and when it was killed. */
  readonly finished_at: string | null;
  /** Null unless the run completed or failed. */
  readonly outcome: 'success' | 'fail' | null;
  readonly goal_gate_status: { readonly [node: string]: GateStatus };
  /** The calls of all runs that count as this one, as `journal list --json` has them. */
  readonly calls: RecordedCounts;
}

export function statusOf(id: RunId, { state, finishedAt, calls }: FollowedRun, isRunning: boolean): PipelineStatus {
  const { main, pipeline, startedAt } = state;
  const status = wordFor(state, isRunning);
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
    calls: calls(isRunning),
  };
}

/**
 * Computes the status from the first and last events alone, if all runs ended in order. Undefined if an older program wrote them.
 */
export function statusAtEnd(
  logicalRun: LogicalRun,
  { finished }: RunFile,
  isRunning: boolean,
  fileOf: (run: RunId) => RunFile | undefined,
): PipelineStatus | undefined {
  if (finished?.totals.nodes === undefined || finished.gates === undefined) return undefined;
  const { id, begun } = logicalRun;
  const calls = countsOfRuns(logicalRun, fileOf);
  if (calls === undefined) return undefined;
  const status = wordFor({ ...finished, questions: NO_QUESTIONS }, isRunning);
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
    calls,
  };
}

/** Undefined where a run did not end in order, or an older program counted its calls. */
function countsOfRuns({ segments }: LogicalRun, fileOf: (run: RunId) => RunFile | undefined): RecordedCounts | undefined {
  let counts: RecordedCounts | undefined;
  let isResumed = false;
  for (const { ref, until } of segments) {
    const totals = fileOf(ref.run)?.finished?.totals;
    const next = totals && recordedCounts(totals);
    if (!next) return undefined;
    counts = addRun(counts, next, isResumed);
    isResumed = until !== undefined;
  }
  return counts;
}

const NO_QUESTIONS = { size: 0 };

function outcomeFor(status: PipelineStatus['status']): PipelineStatus['outcome'] {
  return status === 'completed' ? 'success' : status === 'failed' ? 'fail' : null;
}

interface EndedState extends Partial<Pick<PipelineState, 'status' | 'error'>> {
  readonly questions: { readonly size: number };
}

function wordFor({ status, error, questions }: EndedState, isRunning: boolean): PipelineStatus['status'] {
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
    case 'restarted': // the next run is about to begin
      return isRunning ? 'running' : 'interrupted';
    case undefined:
      if (!isRunning) return 'interrupted';
      return questions.size > 0 ? 'waiting' : 'running';
  }
}
