/** Describes the run of another pipeline, as a manager node supervises it. graph-pipelines.md 7.8. */
import type { Stop } from '../../calls/dispatch/stop.js';
import type { OpPath } from '../../../journal/ids.js';

export interface ChildRun {
  readonly runId: string;
  /** Returns the present state of the child. */
  observe(): Promise<ChildProgress>;
  /** Resolves when the child has ended, however it ended. */
  readonly ended: Promise<void>;
  /** Ends the child in order. */
  interrupt(): void;
  /** Returns the folder of the node that is running, if one is. */
  stageFolder(): Promise<string | undefined>;
}

export interface ChildRequest {
  /** The id of the manager node. */
  readonly node: string;
  /** The path of the manager's attempt: a resume finds by it the child that this attempt started before a crash. */
  readonly op: OpPath;
  /** No other node of the pipeline starts a child. */
  readonly isOnlyManager: boolean;
  readonly file: string;
  readonly workingDirectory: string | undefined;
  /** Aborted when the manager must stop. */
  readonly signal: AbortSignal;
}

export interface ChildProgress {
  readonly status: 'running' | 'completed' | 'failed' | 'interrupted' | 'paused';
  /** Says for status `paused` what stopped its calls. */
  readonly stop?: Stop;
  readonly outcome: string;
  readonly currentNode: string;
  /** Counts the nodes that have finished. */
  readonly completed: number;
  readonly retries: number;
  readonly error: string | undefined;
}
