import { MODEL_PROGRAMS } from '../../../../calls/backends/programs.js';
import { ATTRIBUTES } from '../../../model/attributes.js';
import { nodeAttribute, type Graph, type GraphNode } from '../../../model/graph.js';
import { handlerTypeOf } from '../../../model/shapes.js';
import type { LintRule, RuleFinding, RegisteredNames } from '../../rule.js';
import { writtenAttributes, type WrittenAttribute } from '../../written-attributes.js';

const PROGRAMS: readonly string[] = MODEL_PROGRAMS.map(({ name }) => name);
const BACKENDS = `simulated, ${PROGRAMS.join(', ')}, cmd:COMMAND, worker:COMMAND or exe:FILE.mld#NAME`;

/** Requires that typed attributes have a value of their type and range. */
export const attributeValue: LintRule = {
  severity: 'error',
  *check(graph, vocabulary) {
    for (const written of writtenAttributes(graph)) {
      const expected = expectedInstead(written, vocabulary);
      if (expected === undefined) continue;
      const { key, owner, about, attribute } = written;
      const { text, at } = attribute.value;
      yield { message: `\`${key}\` of ${owner} is \`${text}\`: expected ${expected}`, ...about, at, fix: `write ${expected}` };
    }
    for (const node of graph.nodes.values()) yield* checkJoin(graph, node, vocabulary);
  },
};

/** Requires that `k` and `k_of_n` occur together, and that `k` is not larger than the number of branches. */
function* checkJoin(graph: Graph, node: GraphNode, { handlers }: RegisteredNames): Generator<RuleFinding> {
  const k = nodeAttribute(node, 'k');
  const isCounted = nodeAttribute(node, 'join_policy') === 'k_of_n';
  const isParallel = handlerTypeOf(node, handlers) === 'parallel';
  const branches = graph.outgoing(node.id).length;
  const at = (key: string): number => node.attributes.get(key)?.value.at ?? node.at;
  if (k !== undefined && !isCounted)
    yield {
      message: `\`k\` of \`${node.id}\` has no effect without \`join_policy=k_of_n\``,
      node: node.id,
      at: at('k'),
      fix: 'write join_policy=k_of_n, or remove k',
    };
  else if (isParallel && k !== undefined && k > branches) {
    const message = `\`k\` of \`${node.id}\` is \`${k}\`, but the node has ${branches} ${branches === 1 ? 'branch' : 'branches'}`;
    yield { message, node: node.id, at: at('k'), fix: `write a number from 1 to ${branches}` };
  } else if (isParallel && isCounted && !node.attributes.has('k'))
    yield {
      message: `\`${node.id}\` has \`join_policy=k_of_n\` but no \`k\``,
      node: node.id,
      at: at('join_policy'),
      fix: 'write k=NUMBER',
    };
}

/** Returns what was expected; undefined when the value fits. */
function expectedInstead({ of, key, attribute }: WrittenAttribute, vocabulary: RegisteredNames): string | undefined {
  const { text } = attribute.value;
  if (key === 'backend' && of !== 'edge') return text === '' || isBackend(text, vocabulary) ? undefined : BACKENDS;
  const table = ATTRIBUTES[of];
  const type = Object.hasOwn(table, key) ? table[key] : undefined;
  if (!type || type.read(text) !== undefined || (text === '' && type.mayBeEmpty)) return undefined;
  return type.name;
}

function isBackend(text: string, { backends }: RegisteredNames): boolean {
  if (/^(?:simulated|(?:cmd|worker):\s*\S.*|exe:.+#[A-Za-z_]\w*)$/s.test(text)) return true;
  const kind = text.replace(/:.*$/s, '').trim();
  return PROGRAMS.includes(kind) || (backends?.has(kind) ?? false);
}
