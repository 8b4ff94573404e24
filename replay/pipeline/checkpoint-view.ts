/** The execution state of a pipeline run as a value for people and tools: `checkpoint.json`. Resume reads the journal instead. */
import type { Json } from '../../journal/event.js';
import type { FidelityMode, GateStatus, StageOutcome } from '../../journal/facts/pipeline-event.js';
import { gateStatuses, type PipelineState } from './pipeline-state.js';
import type { HistoryEntry } from './walk.js';

const CHECKPOINT_VERSION = 1;
/** Any other word counts as unset. */
const MODES: { readonly [M in FidelityMode]: true } = {
  full: true,
  truncate: true,
  compact: true,
  'summary:low': true,
  'summary:medium': true,
  'summary:high': true,
};

/** Members are named as in the file. */
export interface Checkpoint {
  readonly version: number;
  readonly run_id: string | null;
  readonly journal_run: string | null;
  readonly seq: number | null;
  readonly pipeline_name: string;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly current_node: string | null;
  readonly next_edge: { readonly from: string; readonly to: string; readonly via: string; readonly label: string } | null;
  readonly context: { readonly [key: string]: Json };
  readonly outcome: Omit<StageOutcome, 'carried'> | null;
  readonly node_history: readonly HistoryEntry[];
  readonly goal_gate_status: { readonly [node: string]: GateStatus };
  readonly node_retries: { readonly [node: string]: number };
  readonly outputs: { readonly [node: string]: readonly string[] };
  readonly artifacts: readonly {
    readonly id: string;
    readonly name: string;
    readonly size_bytes: number;
    readonly stored_at: string;
    readonly is_file_backed: boolean;
    readonly path?: string;
  }[];
  readonly fidelity_state: {
    readonly default: string;
    readonly degrade_next: boolean;
    readonly last: { readonly [member: string]: string } | null;
    readonly summaries: PipelineState['summaries'];
  };
}

/** Shares its parts with the state: to be written at once, not kept. */
export function checkpointOf(state: PipelineState): Checkpoint {
  const { main, lastFidelity } = state;
  const { current, outcome, next, context, history } = main;
  const configured = context['graph.default_fidelity'];
  return {
    version: CHECKPOINT_VERSION,
    run_id: state.runId ?? null,
    journal_run: state.journalRun ?? null,
    seq: state.seq ?? null,
    pipeline_name: state.pipeline,
    timestamp: state.timestamp,
    current_node: current ?? null,
    next_edge: next === undefined ? null : { from: next.from, to: next.to, via: next.via, label: next.label ?? '' },
    context,
    outcome: outcome === undefined ? null : reported(outcome),
    node_history: history,
    goal_gate_status: gateStatuses(state),
    node_retries: Object.fromEntries(state.retries),
    outputs: Object.fromEntries(state.outputs),
    artifacts: [...state.artifacts.values()].map(({ id, name, sizeBytes, storedAt, fileBacked }) => ({
      id,
      name,
      size_bytes: sizeBytes,
      stored_at: storedAt,
      is_file_backed: fileBacked,
      ...(fileBacked ? { path: `artifacts/${id}.json` } : {}),
    })),
    fidelity_state: {
      default: typeof configured === 'string' && Object.hasOwn(MODES, configured) ? configured : 'compact',
      degrade_next: state.degradeNext,
      last: lastFidelity === undefined ? null : { ...lastFidelity },
      summaries: state.summaries,
    },
  };
}

function reported({
  status,
  preferred_label,
  suggested_next_ids,
  context_updates,
  notes,
  failure_reason,
}: StageOutcome): NonNullable<Checkpoint['outcome']> {
  return { status, preferred_label, suggested_next_ids, context_updates, notes, failure_reason };
}
