/** How much of the past a stage is told, and in which conversation. graph-pipelines.md 9.2, 9.3, 9.5. */
import type { Fidelity, FidelityMode } from '../../../journal/pipeline-event.js';
import { isFidelityMode } from './attributes.js';
import { graphAttribute, nodeAttribute } from './graph.js';
import type { CompiledPipeline } from './compiled-pipeline.js';

/** What the edge says over which a node was reached; nothing after a jump or a join. */
export interface Arrival {
  readonly fidelity: string | undefined;
  readonly thread: string | undefined;
  /** The node that the walk came from, in its branch; empty at the entry. */
  readonly from: string;
}

export interface PromptHistory {
  readonly fidelity: Fidelity;
  /** Under `full` only. */
  readonly thread: string | undefined;
}

/** `resumed`: the first node behind a resume. */
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
