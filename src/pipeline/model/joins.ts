/**
 * Where the branches of a parallel node meet: at the fan-ins that a walk from the branch targets comes to, else at the exit. The walk
 * never goes past a fan-in, and takes a nested parallel node as one step to its own join. graph-pipelines.md 7.5.
 */
import type { Graph } from './graph.js';
import { exitsOf, handlerTypeOf } from './shapes.js';

/** By id of parallel node: the fan-ins, of which a sound graph has one at most; without any the exit, where a branch reaches it. */
export type Joins = ReadonlyMap<string, ReadonlySet<string>>;

export function joinsOf(graph: Graph, registered?: ReadonlySet<string>): Joins {
  const handlers = new Map([...graph.nodes.values()].map((node) => [node.id, handlerTypeOf(node, registered)]));
  const isParallel = (id: string): boolean => handlers.get(id) === 'parallel';
  const isFanIn = (id: string): boolean => handlers.get(id) === 'parallel.fan_in';
  const exit = exitsOf(graph)[0]?.id;
  const joins = new Map([...graph.nodes.keys()].filter(isParallel).map((id) => [id, new Set<string>()]));
  /** A nested node's join may hang on that of the node around it, when a branch walks back: so until nothing is new. */
  const settle = (parallels: readonly string[], isEnd: (id: string) => boolean): void => {
    for (let isComplete = false; !isComplete;) {
      isComplete = true;
      for (const id of parallels) {
        const met = walk(id, isEnd);
        if (met.size > (joins.get(id)?.size ?? 0)) isComplete = false;
        joins.set(id, met);
      }
    }
  };
  const targetsOf = (id: string): readonly string[] => graph.outgoing(id).map(({ to }) => to);
  const walk = (parallel: string, isEnd: (id: string) => boolean): Set<string> => {
    const met = new Set<string>();
    const seen = new Set([parallel]); // a branch that comes back to its own node has failed
    const waiting = [...targetsOf(parallel)];
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      if (seen.has(id)) continue;
      seen.add(id);
      if (isEnd(id)) met.add(id);
      // Behind a nested join the walk goes on, as the engine does: the fan-in there belongs to the nested node.
      else if (isParallel(id)) waiting.push(...[...(joins.get(id) ?? [])].flatMap((join) => (isFanIn(join) ? targetsOf(join) : join)));
      else waiting.push(...targetsOf(id));
    }
    return met;
  };
  // Backwards, because what is nested mostly stands behind what it is nested in.
  const parallels = [...joins.keys()].toReversed();
  settle(parallels, isFanIn);
  const withoutFanIn = parallels.filter((id) => joins.get(id)?.size === 0);
  settle(withoutFanIn, (id) => id === exit);
  return joins;
}
