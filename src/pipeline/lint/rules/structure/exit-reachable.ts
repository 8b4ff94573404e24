import { nodeAttribute, type Graph } from '../../../model/graph.js';
import { joinsOf } from '../../../model/joins.js';
import { exitsOf } from '../../../model/shapes.js';
import { aboutNode, type LintRule } from '../../rule.js';

const NAMES_MAX = 5;

/** Requires that every node can reach the exit by edges, retry targets and joins. Nodes of the same trap are reported once. */
export const exitReachable: LintRule = {
  severity: 'warning',
  *check(graph, { handlers }) {
    const exits = exitsOf(graph).map(({ id }) => id);
    if (exits.length === 0) return; // `terminal_node` reports that
    const ways = waysOf(graph, handlers);
    const free = reaching(exits, ways);
    const trapped = new Set([...graph.nodes.keys()].filter((id) => !free.has(id)));
    for (const trap of partsOf(trapped, ways)) {
      const node = graph.nodes.get(trap[0] ?? '');
      if (!node || (trap.length === 1 && graph.outgoing(node.id).length === 0)) continue; // `dead_end` reports it
      const names = trap.slice(0, NAMES_MAX).map((id) => `\`${id}\``);
      const more = trap.length > NAMES_MAX ? ` and ${trap.length - NAMES_MAX} more` : '';
      yield {
        message: `From ${names.join(', ')}${more} the exit can't be reached: a run that gets here fails, or loops until a limit ends it`,
        ...aboutNode(node),
        fix: 'add an edge from one of them towards the exit',
      };
    }
  },
};

type Ways = ReadonlyMap<string, readonly string[]>;

/** Returns the nodes that may follow each node. */
function waysOf(graph: Graph, handlers: ReadonlySet<string> | undefined): Ways {
  const joins = joinsOf(graph, handlers);
  const ways = new Map<string, string[]>();
  for (const node of graph.nodes.values()) {
    const targets = [nodeAttribute(node, 'retry_target'), nodeAttribute(node, 'fallback_retry_target')];
    const next = joins.get(node.id) ?? graph.outgoing(node.id).map(({ to }) => to); // a parallel node is followed by its join
    ways.set(
      node.id,
      [...next, ...targets].filter((id): id is string => id !== undefined && graph.nodes.has(id)),
    );
  }
  // A branch may end at a dead end; the join follows it all the same.
  for (const [parallel, join] of joins) for (const id of deadEndsOf(graph, parallel, join)) ways.get(id)?.push(...join);
  return ways;
}

function deadEndsOf(graph: Graph, parallel: string, join: ReadonlySet<string>): readonly string[] {
  const targets = (id: string): readonly string[] => graph.outgoing(id).map(({ to }) => to);
  const seen = new Set<string>();
  const waiting = [...targets(parallel)];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (seen.has(id) || join.has(id)) continue;
    seen.add(id);
    waiting.push(...targets(id));
  }
  return [...seen].filter((id) => targets(id).length === 0);
}

function reaching(ends: readonly string[], ways: Ways): ReadonlySet<string> {
  const before = new Map<string, string[]>();
  for (const [from, targets] of ways) {
    for (const to of targets) {
      const known = before.get(to);
      if (known) known.push(from);
      else before.set(to, [from]);
    }
  }
  return spread(ends, (id) => before.get(id) ?? []);
}

/** Groups connected nodes, in the order of the file. */
function* partsOf(nodes: ReadonlySet<string>, ways: Ways): Generator<readonly string[]> {
  const neighbours = new Map([...nodes].map((id): [string, string[]] => [id, []]));
  for (const from of nodes) {
    for (const to of ways.get(from) ?? []) {
      if (!nodes.has(to)) continue;
      neighbours.get(from)?.push(to);
      neighbours.get(to)?.push(from);
    }
  }
  const order = new Map([...nodes].map((id, at) => [id, at]));
  const reported = new Set<string>();
  for (const id of nodes) {
    if (reported.has(id)) continue;
    const part = spread([id], (one) => neighbours.get(one) ?? []);
    for (const one of part) reported.add(one);
    yield [...part].sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
  }
}

function spread(from: readonly string[], next: (id: string) => readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const waiting = [...from];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    waiting.push(...next(id));
  }
  return seen;
}
