/**
 * Where the branches of a parallel node meet: the fan-ins that a walk from the branch targets comes to. The walk never
 * goes past a fan-in, and takes a nested parallel node as one step to its own join. Reference 7.5.
 */
import type { Graph } from './model.js';
import { handlerTypeOf } from './shapes.js';

/** Ids of fan-ins by id of parallel node; a sound graph has one at most for each. */
export type Joins = ReadonlyMap<string, ReadonlySet<string>>;

export function joinsOf(graph: Graph, registered?: ReadonlySet<string>): Joins {
  const handlers = new Map([...graph.nodes.values()].map((node) => [node.id, handlerTypeOf(node, registered)]));
  const joins = new Map([...graph.nodes.keys()].filter((id) => handlers.get(id) === 'parallel').map((id) => [id, new Set<string>()]));
  // A nested node's join may hang on that of the node around it, when a branch walks back: so until nothing is new.
  // Backwards, because what is nested mostly stands behind what it is nested in.
  const parallels = [...joins.keys()].toReversed();
  for (let isComplete = false; !isComplete;) {
    isComplete = true;
    for (const id of parallels) {
      const met = walk(graph, id, handlers, joins);
      if (met.size > (joins.get(id)?.size ?? 0)) isComplete = false;
      joins.set(id, met);
    }
  }
  return joins;
}

function walk(graph: Graph, parallel: string, handlers: ReadonlyMap<string, string>, joins: Joins): Set<string> {
  const targetsOf = (id: string) => graph.outgoing(id).map(({ to }) => to);
  const met = new Set<string>();
  const seen = new Set([parallel]); // a branch that comes back to its own node has failed
  const waiting = targetsOf(parallel);
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const handler = handlers.get(id);
    if (handler === undefined || seen.has(id)) continue;
    seen.add(id);
    if (handler === 'parallel.fan_in') met.add(id);
    // Behind a nested join the walk goes on, as the engine does: the fan-in there belongs to the nested node.
    else if (handler === 'parallel') waiting.push(...[...(joins.get(id) ?? [])].flatMap(targetsOf));
    else waiting.push(...targetsOf(id));
  }
  return met;
}
