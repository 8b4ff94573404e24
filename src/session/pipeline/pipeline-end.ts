/** Walks a pipeline to its end, and says how it ended. */
import type { FactOf } from '../../../journal/event.js';
import type { RunStatus } from '../../../journal/facts/run-event.js';
import { currentNode, gateStatuses, type PipelineState } from '../../../replay/pipeline/pipeline-state.js';
import { MlldError } from '../../errors.js';
import { PipelineError } from '../../pipeline/model/outcome.js';
import type { WalkEnd } from '../../pipeline/stage/walk-context.js';
import type { PipelineRuntime } from '../../pipeline/walk/pipeline-runtime.js';
import { traverse } from '../../pipeline/walk/traverse.js';
import type { CallRuntime } from '../../runtime/calls/call-runtime.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import type { StopReason } from '../run-lifecycle.js';
import { isUserError } from '../user-error.js';
import { CANCELLED } from './run-pipeline-options.js';

const RESTARTS_MAX = 100;

export interface PipelineEnd {
  readonly status: RunStatus;
  /** Absent where the status says it: completed, timed out, paused. */
  readonly error?: MlldError;
  /** The node at which the next run begins, after a `loop_restart` edge. */
  readonly restartAt?: string;
}

interface Walking {
  /** Aborted with a `StopReason` when the run must stop. */
  readonly signal: AbortSignal;
  /** Aborted by the caller; the reason says why the run was interrupted. */
  readonly callerSignal: AbortSignal;
  readonly calls: CallRuntime;
  /** Counts the runs of this command: 1, or more after restarts. */
  readonly number: number;
}

export async function walkToEnd(run: PipelineRuntime, walking: Walking): Promise<PipelineEnd> {
  const { signal, calls, number } = walking;
  let end: WalkEnd;
  try {
    end = await traverse(run, { frame: run.frame, signal, walks: [] });
  } catch (error) {
    if (signal.aborted) return stoppedEnd(signal.reason as StopReason, walking); // it is aborted with nothing else
    if (error instanceof PipelineError) return { status: 'failed', error: new MlldError('PIPELINE_LIMIT', error.message) };
    // A file of a stage can't be written, on the same disk that does not take the journal: no call may start any more.
    if (calls.dispatcher.stoppedBy) return { status: 'paused' };
    if (isUserError(error)) return { status: 'failed', error };
    throw error;
  }
  switch (end.kind) {
    case 'completed':
      return { status: 'completed' };
    case 'failed':
      return { status: 'failed', error: new MlldError('STAGE_FAILED', end.reason) };
    case 'restarted':
      if (number > RESTARTS_MAX) return { status: 'failed', error: tooManyRestarts() };
      return { status: 'restarted', restartAt: end.at };
  }
}

/** A replay knows such an end by this text. */
export function tooManyRestarts(): MlldError {
  return new MlldError('PIPELINE_LIMIT', `The run restarted more than ${RESTARTS_MAX} times`);
}

function stoppedEnd(status: StopReason, { callerSignal }: Walking): PipelineEnd {
  const reason: unknown = callerSignal.reason;
  if (status === 'paused') return { status };
  if (reason instanceof MlldError) return { status, error: reason };
  if (reason === CANCELLED) return { status, error: new MlldError('CANCELLED', 'the run was cancelled') };
  if (status === 'timed-out') return { status };
  return { status, error: new MlldError('INTERRUPTED', `ended by ${typeof reason === 'string' ? reason : 'its caller'}`) };
}

/** Returns what the last event of a pipeline's run says about its walk. */
export function positionAtEnd(
  state: PipelineState,
  { restartAt: next }: PipelineEnd,
): Pick<FactOf<'run.finished'>, 'next' | 'node' | 'gates'> {
  return withoutUndefined<Pick<FactOf<'run.finished'>, 'next' | 'node' | 'gates'>>({
    next,
    node: currentNode(state),
    gates: gateStatuses(state),
  });
}

export function pipelineTotals({ main, retriesTotal, artifacts }: PipelineState): {
  readonly nodes: number;
  readonly stageRetries: number;
  readonly artifacts: number;
} {
  return { nodes: main.history.length, stageRetries: retriesTotal, artifacts: artifacts.size };
}
