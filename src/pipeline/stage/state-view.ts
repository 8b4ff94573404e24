/** Declares the parts of a run's recorded state that the engine reads. `replay/pipeline/pipeline-state.ts` folds them from the journal. */
import type { Json } from '../../../journal/event.js';
import type { AnsweredBy, BranchRef, EdgeVia, StageOutcome, StageStatus } from '../../../journal/facts/pipeline-event.js';
import type { CallKey, OpPath, RunId } from '../../../journal/ids.js';

export interface HistoryView {
  readonly node_id: string;
  readonly outcome: StageStatus;
  readonly visit: number;
  readonly attempts: number;
  readonly failure_reason?: string;
}

export interface ArtifactView {
  readonly id: string;
  readonly name: string;
  readonly sizeBytes: number;
  /** ISO 8601, UTC. */
  readonly storedAt: string;
  readonly fileBacked: boolean;
}

export type NotableView =
  | { readonly kind: 'failed'; readonly node: string; readonly visit: number }
  | { readonly kind: 'retried'; readonly node: string; readonly attempts: number; readonly answered: number }
  | { readonly kind: 'jumped'; readonly from: string; readonly to: string }
  | { readonly kind: 'answered'; readonly node: string; readonly choice: string };

export interface WalkView {
  readonly path: OpPath;
  readonly branch: BranchRef | undefined;
  readonly context: { readonly [key: string]: Json };
  readonly current: string | undefined;
  readonly outcome: StageOutcome | undefined;
  readonly next:
    | {
        readonly from: string;
        readonly to: string;
        readonly via: EdgeVia;
        readonly label?: string;
        readonly condition?: string;
        readonly fidelity?: string;
        readonly thread?: string;
      }
    | undefined;
  readonly running:
    { readonly op: OpPath; readonly node: string; readonly visit: number; readonly retries: number; readonly answered: number } | undefined;
  readonly enterAt: string | undefined;
  /** The walk failed or was cut off at `enterAt`. */
  readonly isReentered: boolean;
  /** The latest visit of each node where that failed, was cut off, or has a goal gate in its branches that is not met (`context`). */
  readonly failed: ReadonlyMap<
    string,
    { readonly visit: number; readonly branches: ReadonlyMap<number, WalkView>; readonly context?: { readonly [key: string]: Json } }
  >;
  readonly history: readonly HistoryView[];
  readonly visits: ReadonlyMap<string, number>;
  /** The latest visit of each node, in the order in which the visits ended. */
  readonly latest: ReadonlyMap<string, HistoryView>;
  /** Heads of the replies of the last model stages, by node. */
  readonly excerpts: ReadonlyMap<string, string>;
  /** Counts failed stages over the whole history. */
  readonly failures: number;
  readonly retried: number;
  /** Those of `retried` whose attempts before were answered by a model. */
  readonly answered: number;
  /** Newest last. */
  readonly notable: readonly NotableView[];
  readonly branches: ReadonlyMap<number, WalkView>;
}

/** The state changes with every recorded fact: read it anew after each. */
export interface StateView {
  readonly runId: RunId | undefined;
  /** The number of restarts before this run in its logical run. */
  readonly restarts: number;
  /** The manager's attempt around this run, where it tells the run from others. */
  readonly within: string | undefined;
  readonly main: WalkView;
  readonly results: ReadonlyMap<string, StageStatus | undefined>;
  readonly artifacts: ReadonlyMap<string, ArtifactView>;
  readonly received: ReadonlyMap<
    OpPath,
    { readonly reply?: CallKey; readonly answer?: { readonly id: string; readonly answer: string; readonly by: AnsweredBy } }
  >;
  readonly questionCount: number;
  readonly threads: ReadonlySet<string>;
  readonly degradeNext: boolean;
  readonly steps: number;
  readonly jumps: number;
}
