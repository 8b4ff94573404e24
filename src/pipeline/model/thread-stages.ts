/** Finds the nodes of branches from which a walk may come to a stage that names a thread. graph-pipelines.md 9.3. */
import { threadNamedAt } from './fidelity.js';
import { nodeAttribute } from './graph.js';
import { callsModel, type CompiledPipeline } from './compiled-pipeline.js';

/** Holds the stages of the thread too. Whether an edge will be taken is not known, so each of them counts. */
export function nodesBeforeThread(pipeline: CompiledPipeline, parallel: string, thread: string): ReadonlySet<string> {
  const ends = new Set([parallel, pipeline.exit, pipeline.joinOf(parallel)]);
  const sources = new Map<string, string[]>();
  const speaking = new Set<string>();
  const waiting = pipeline.outgoing(parallel).map(stepOver);
  for (let step = waiting.pop(); step; step = waiting.pop()) {
    const { from, to } = step;
    if (ends.has(to)) continue;
    if (callsModel(pipeline, to) && threadNamedAt(pipeline, to, step) === thread) speaking.add(to);
    const known = sources.get(to);
    if (known) known.push(from);
    else {
      sources.set(to, [from]);
      waiting.push(...stepsFrom(pipeline, to));
    }
  }
  const before = new Set<string>();
  const unseen = [...speaking];
  for (let id = unseen.pop(); id !== undefined; id = unseen.pop()) {
    if (id === parallel || before.has(id)) continue;
    before.add(id);
    unseen.push(...(sources.get(id) ?? []));
  }
  return before;
}

interface Step {
  readonly from: string;
  readonly to: string;
  readonly fidelity: string | undefined;
  readonly thread: string | undefined;
}

function stepOver({ from, to, fidelity, thread }: Step): Step {
  return { from, to, fidelity, thread };
}

/** Returns the edges, and the jumps and joins, which have no attributes. */
function stepsFrom(pipeline: CompiledPipeline, from: string): readonly Step[] {
  const node = pipeline.node(from);
  const join = pipeline.handlerOf(from) === 'parallel' ? pipeline.joinOf(from) : undefined;
  const jumps = [nodeAttribute(node, 'retry_target'), nodeAttribute(node, 'fallback_retry_target'), join];
  return [
    ...pipeline.outgoing(from).map(stepOver),
    ...jumps.flatMap((to) => (to === undefined || !pipeline.has(to) ? [] : [{ from, to, fidelity: undefined, thread: undefined }])),
  ];
}
