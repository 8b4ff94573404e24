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
  /** The conversation in which the stage would be, if it were not the first one after a resume. */
  readonly leaves?: string;
}

/** @param resumed true for the first node after a resume, which has lost its conversations */
export function promptHistoryFor(pipeline: CompiledPipeline, id: string, arrival: Arrival, resumed: boolean): PromptHistory {
  const { mode, from } = modeAt(pipeline, id, arrival);
  const thread = mode === 'full' ? (threadNamedAt(pipeline, id, arrival) ?? (arrival.from || id)) : undefined;
  if (!resumed) return { fidelity: { mode, from, configured: mode }, thread };
  return {
    fidelity: { mode: 'compact', from: 'resume', configured: mode },
    thread: undefined,
    ...(thread !== undefined && { leaves: thread }),
  };
}

type EdgeAttributes = Pick<Arrival, 'fidelity' | 'thread'>;

/** Returns the thread that the graph names for a stage; undefined where that is the node before it, and unless the mode is `full`. */
export function threadNamedAt(pipeline: CompiledPipeline, id: string, arrival: EdgeAttributes): string | undefined {
  if (modeAt(pipeline, id, arrival).mode !== 'full') return undefined;
  const { graph, node } = pipeline;
  const keys = [nodeAttribute(node(id), 'thread_id'), arrival.thread, graphAttribute(graph, 'default_thread_id'), node(id).innermostClass];
  return keys.find((key) => key !== undefined && key !== '');
}

function modeAt({ graph, node }: CompiledPipeline, id: string, { fidelity }: EdgeAttributes): ReturnType<typeof configuredMode> {
  return configuredMode([
    ['edge', fidelity],
    ['node', nodeAttribute(node(id), 'fidelity')],
    ['graph', graphAttribute(graph, 'default_fidelity')],
  ]);
}

type Level = readonly ['edge' | 'node' | 'graph', string | undefined];

function configuredMode(levels: readonly Level[]): { readonly mode: FidelityMode; readonly from: Fidelity['from'] } {
  for (const [from, written] of levels) if (written !== undefined && isFidelityMode(written)) return { mode: written, from };
  return { mode: 'compact', from: 'default' };
}
