/**
 * The facts about a pipeline: a part of `Fact`. `op` is the path of the node (`main/pump#0`), of one of its attempts
 * (`main/pump#0/try#2`), or of the walk that an edge belongs to (`main`, or a branch: `main/fan#0[1]`).
 */
import type { Json, Payload } from '../payloads.js';
import type { OpPath } from '../ids.js';

export type StageStatus = 'success' | 'partial_success' | 'retry' | 'fail' | 'skipped';

/** The part of an outcome that decides which edge is selected. */
export interface Routing {
  readonly status: StageStatus;
  readonly preferred_label: string;
  readonly suggested_next_ids: readonly string[];
  readonly failure_reason: string;
}

/** Named as in checkpoints and status files. */
export interface StageOutcome extends Routing {
  readonly context_updates: { readonly [key: string]: Json };
  readonly notes: string;
  /** Conditional nodes and skipped nodes carry the routing part of the stage before them. */
  readonly carried?: Routing;
}

export type FidelityMode = 'full' | 'truncate' | 'compact' | 'summary:low' | 'summary:medium' | 'summary:high';

/** Says how much of the walk so far the prompt of a model stage includes, and where that was configured. */
export interface Fidelity {
  readonly mode: FidelityMode;
  readonly from: 'edge' | 'node' | 'graph' | 'default' | 'resume';
  /** The mode that would hold without a resume. */
  readonly configured: FidelityMode;
}

export type EdgeVia =
  'condition' | 'label' | 'suggested' | 'weight' | 'lexical' | 'retry_target' | 'fallback_retry_target' | 'gate' | 'join';
export type GateStatus = 'pending' | 'satisfied' | 'unsatisfied';

/** Returns the status of a goal gate whose latest visit ended like this; undefined: it was not visited. */
export function gateStatusAfter(status: StageStatus | undefined): GateStatus {
  if (status === undefined) return 'pending';
  return status === 'success' || status === 'partial_success' ? 'satisfied' : 'unsatisfied';
}

/** Names the branch that a node is in: its parallel node, its id, its index. */
export interface BranchRef {
  readonly of: string;
  readonly id: string;
  readonly index: number;
}

export interface QuestionOption {
  readonly key: string;
  readonly label: string;
  /** The node that it leads to. */
  readonly target: string;
}
export type QuestionKind = 'yes_no' | 'multiple_choice' | 'freeform' | 'confirmation';
export type AnsweredBy = 'auto' | 'console' | 'stdin' | 'callback' | 'remote' | 'default';

export type PipelineFact =
  /** A visit began; after a crash the same visit begins again. It sets the context key `current_node`. */
  | {
      readonly type: 'node.started';
      readonly op: OpPath;
      readonly node: string;
      readonly visit: number;
      readonly handler: string;
      readonly branch?: BranchRef;
      // Model stages only.
      readonly fidelity?: Fidelity;
      readonly thread?: string;
      readonly model?: string;
      readonly provider?: string;
      readonly effort?: string;
      /** The number of branches of a parallel node. */
      readonly branches?: number;
      /** The number of the earlier visit that failed or was cut off, whose branches a parallel node continues. */
      readonly continues?: number;
    }
  /** The commit of a visit: context, history, gate and counter change with it. On disk before an edge is chosen. */
  | {
      readonly type: 'node.finished';
      readonly op: OpPath;
      readonly node: string;
      readonly visit: number;
      readonly status: StageStatus;
      readonly outcome: StageOutcome;
      readonly attempts: number;
      readonly elapsedMs: number;
      readonly branch?: BranchRef;
      /** Files that the visit left, relative to the run folder. */
      readonly files?: readonly string[];
      /** The head of a model stage's reply, for later carry-over texts. */
      readonly excerpt?: string;
    }
  /** The transition that followed; `op` is the walk's. Jumps and joins have no edge. */
  | {
      readonly type: 'edge.selected';
      readonly op: OpPath;
      readonly from: string;
      readonly to: string;
      readonly via: EdgeVia;
      readonly label?: string;
      readonly condition?: string;
      /** Set by the edge for the conversation of its target. */
      readonly fidelity?: string;
      readonly thread?: string;
      readonly branch?: BranchRef;
    }
  /** The context changed otherwise than by the end of a node. */
  | { readonly type: 'context.updated'; readonly op: OpPath; readonly updates: { readonly [key: string]: Json }; readonly by: string }
  /** Recorded at the exit and at dead ends, also where there are no gates. */
  | {
      readonly type: 'gate.checked';
      readonly op: OpPath;
      readonly satisfied: boolean;
      readonly gates: { readonly [node: string]: GateStatus };
      /** The gate that is not met, and the node to which the walk jumps; without a target the run fails. */
      readonly node?: string;
      readonly target?: string;
      /** The parallel node of the main path in whose branches the gate is: a resume continues them. Older programs did not record it. */
      readonly within?: string;
    }
  /** The kernel has it before the wait begins. `attempt` is the number of the retry, from 1. */
  | {
      readonly type: 'retry.scheduled';
      readonly op: OpPath;
      readonly node: string;
      readonly visit: number;
      readonly attempt: number;
      readonly delayMs: number;
      readonly reason: string;
      readonly cause: 'asked' | 'error';
      /**
       * The number of attempts of the visit that a model has answered: the call of the next one is recorded as that of the attempt after
       * them. Absent in runs of before, which counted all attempts.
       */
      readonly answered?: number;
    }
  /** `op` is that of the attempt, by which the answer is found after a crash. */
  | {
      readonly type: 'question.asked';
      readonly op: OpPath;
      readonly id: string;
      readonly node: string;
      readonly kind: QuestionKind;
      readonly text: string;
      readonly options: readonly QuestionOption[];
      readonly default?: string;
      readonly timeoutMs?: number;
    }
  /** On disk before anything follows from it. `answer` is a key (a label where two have one key), a text, `skipped` or `timeout`. */
  | {
      readonly type: 'question.answered';
      readonly op: OpPath;
      readonly id: string;
      readonly node: string;
      readonly answer: string;
      readonly by: AnsweredBy;
    }
  | {
      readonly type: 'artifact.stored';
      readonly op: OpPath;
      readonly id: string;
      readonly name: string;
      readonly node: string;
      readonly sizeBytes: number;
      readonly fileBacked: boolean;
      readonly payload: Payload;
    }
  /** The artifact is removed from the list; its payload is still in the journal. */
  | { readonly type: 'artifact.removed'; readonly op: OpPath; readonly id: string };
