/** Resolves how much a model stage is told about the stages before it, and in which conversation. graph-pipelines.md 9.2, 9.3, 9.5. */
import type { Fidelity, FidelityMode } from '../../../journal/facts/pipeline-event.js';
import { isFidelityMode } from './attributes.js';
import { graphAttribute, nodeAttribute } from './graph.js';
import type { CompiledPipeline } from './compiled-pipeline.js';

/** Describes how a walk arrived at a node. */
export interface Arrival {
  /** The attribute of the edge; undefined after a jump or a join. */
  readonly fidelity: string | undefined;
  /** The attribute of the edge; undefined after a jump or a join. */
  readonly thread: string | undefined;
  /** Identifies the node before this one within its branch; empty at the entry. */
  readonly from: string;
}

/** Says how much history the prompt of a model stage carries, and in which conversation it is sent. */
export interface PromptHistory {
  readonly fidelity: Fidelity;
  /** The key of the conversation; undefined unless the mode is `full`. */
  readonly thread: string | undefined;
}

/** @param resumed true for the first node after a resume, which has lost its conversations */
export function promptHistoryFor({ graph, node }: CompiledPipeline, id: string, arrival: Arrival, resumed: boolean): PromptHistory {
  const configured = configuredMode([
    ['edge', arrival.fidelity],
    ['node', nodeAttribute(node(id), 'fidelity')],
    ['graph', graphAttribute(graph, 'default_fidelity')],
  ]);
  if (resumed) return { fidelity: { mode: 'compact', from: 'resume', configured: configured.mode }, thread: undefined };
  const { mode, from } = configured;
  const keys = [
    nodeAttribute(node(id), 'thread_id'),
    arrival.thread,
    graphAttribute(graph, 'default_thread_id'),
    node(id).innermostClass,
    arrival.from,
  ];
  const thread = mode === 'full' ? (keys.find((key) => key !== undefined && key !== '') ?? id) : undefined;
  return { fidelity: { mode, from, configured: mode }, thread };
}

type Level = readonly ['edge' | 'node' | 'graph', string | undefined];

function configuredMode(levels: readonly Level[]): { readonly mode: FidelityMode; readonly from: Fidelity['from'] } {
  for (const [from, written] of levels) if (written !== undefined && isFidelityMode(written)) return { mode: written, from };
  return { mode: 'compact', from: 'default' };
}
