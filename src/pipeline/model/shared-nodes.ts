/** Finds the nodes to which more than one branch of a parallel node can come, so that two branches may be at one of them at a time. */
import { nodeAttribute } from './graph.js';
import type { CompiledPipeline } from './compiled-pipeline.js';

type Drawn = Pick<CompiledPipeline, 'node' | 'has' | 'outgoing' | 'joinOf' | 'exit'>;

export function sharedNodes(pipeline: Drawn, parallel: string): ReadonlySet<string> {
  const ends = new Set([parallel, pipeline.exit, pipeline.joinOf(parallel)]);
  const once = new Set<string>();
  const shared = new Set<string>();
  for (const { to } of pipeline.outgoing(parallel)) {
    const seen = new Set<string>();
    const waiting = [to];
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      if (seen.has(id) || ends.has(id)) continue;
      seen.add(id);
      if (once.has(id)) shared.add(id);
      once.add(id);
      waiting.push(...pipeline.outgoing(id).map((edge) => edge.to), ...retryTargets(pipeline, id));
    }
  }
  return shared;
}

function retryTargets({ node, has }: Drawn, id: string): readonly string[] {
  const targets = [nodeAttribute(node(id), 'retry_target'), nodeAttribute(node(id), 'fallback_retry_target')];
  return targets.filter((target) => target !== undefined && has(target)) as readonly string[];
}
