/**
 * Finds the nodes where the branches of parallel nodes meet: the fan-ins that a walk from the branch targets reaches, else the exit. The
 * walk stops at a fan-in, and treats a nested parallel node as one step to its own join. graph-pipelines.md 7.5.
 */
import type { Graph } from './graph.js';
import { exitsOf, handlerTypeOf } from './shapes.js';

/** The fan-ins by the id of their parallel node, at most one in a sound graph; without a fan-in the exit, if a branch reaches it. */
export type Joins = ReadonlyMap<string, ReadonlySet<string>>;

export function joinsOf(graph: Graph, registered?: ReadonlySet<string>): Joins {
  const handlers = new Map([...graph.nodes.values()].map((node) => [node.id, handlerTypeOf(node, registered)]));
  const isParallel = (id: string): boolean => handlers.get(id) === 'parallel';
  const isFanIn = (id: string): boolean => handlers.get(id) === 'parallel.fan_in';
  const exit = exitsOf(graph)[0]?.id;
  const joins = new Map([...graph.nodes.keys()].filter(isParallel).map((id) => [id, new Set<string>()]));
  /** Repeats until no join changes: when a branch leads back, the join of a nested node depends on the node around it. */
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
    const seen = new Set([parallel]); // a branch that returns to its own node has failed
    const waiting = [...targetsOf(parallel)];
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      if (seen.has(id)) continue;
      seen.add(id);
      if (isEnd(id)) met.add(id);
      // The walk continues after a nested join, as the engine does: that fan-in belongs to the nested node.
      else if (isParallel(id)) waiting.push(...[...(joins.get(id) ?? [])].flatMap((join) => (isFanIn(join) ? targetsOf(join) : join)));
      else waiting.push(...targetsOf(id));
    }
    return met;
  };
  // Backwards, because a nested node mostly follows the node that it is nested in.
  const parallels = [...joins.keys()].toReversed();
  settle(parallels, isFanIn);
  const withoutFanIn = parallels.filter((id) => joins.get(id)?.size === 0);
  settle(withoutFanIn, (id) => id === exit);
  return joins;
}
