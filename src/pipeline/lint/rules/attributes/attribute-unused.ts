import { backendParts } from '../../../../calls/backends/programs.js';
import { graphAttribute, nodeAttribute, type Graph, type GraphAttribute, type GraphNode } from '../../../model/graph.js';
import { BUILT_IN_HANDLERS, handlerTypeOf } from '../../../model/shapes.js';
import { aboutNode, type LintRule, type RegisteredNames, type RuleFinding } from '../../rule.js';

interface Readers {
  readonly types: readonly string[];
  /** Names the nodes that read the attribute, and the shape of the first of them. */
  readonly are: string;
  readonly shape: string;
}

const MODEL: Readers = { types: ['codergen', 'parallel.fan_in'], are: 'model stages', shape: 'box' };
const PARALLEL: Readers = { types: ['parallel'], are: 'parallel nodes', shape: 'component' };
const MANAGER: Readers = { types: ['stack.manager_loop'], are: 'managers', shape: 'house' };

/** The attributes that only some kinds of nodes read. `k` has a rule of its own. */
const READERS: { readonly [key: string]: Readers } = {
  prompt: { ...MODEL, types: [...MODEL.types, ...MANAGER.types] },
  fidelity: MODEL,
  thread_id: MODEL,
  llm_model: MODEL,
  llm_provider: MODEL,
  reasoning_effort: MODEL,
  backend: MODEL,
  tools: MODEL,
  timeout: {
    types: [...MODEL.types, 'tool', 'wait.human', 'parallel', ...MANAGER.types],
    are: 'model stages, tools, human gates, parallel nodes, managers and fan-ins',
    shape: MODEL.shape,
  },
  tool_command: { types: ['tool'], are: 'tool nodes', shape: 'parallelogram' },
  join_policy: PARALLEL,
  error_policy: PARALLEL,
  max_parallel: PARALLEL,
  'human.default_choice': { types: ['wait.human'], are: 'human gates', shape: 'hexagon' },
  'manager.poll_interval': MANAGER,
  'manager.max_cycles': MANAGER,
  'manager.stop_condition': MANAGER,
  'manager.actions': MANAGER,
  'manager.steer_cooldown': MANAGER,
  'stack.child_autostart': MANAGER,
};

/** Reports attributes that mlld knows and that no node on which they are set reads. A default counts as one attribute of all its nodes. */
export const attributeUnused: LintRule = {
  severity: 'warning',
  *check(graph, vocabulary) {
    const stylesheet = graph.attributes.get('model_stylesheet')?.at;
    const unread = new Map<string, RuleFinding | undefined>();
    for (const node of graph.nodes.values())
      for (const [key, attribute] of node.attributes) {
        if (attribute.at === stylesheet) continue; // it is meant for the model stages among the nodes that match
        const finding = unreadAt(graph, node, key, attribute, vocabulary);
        const written = `${key}:${attribute.at}`;
        if (finding === undefined || !unread.has(written)) unread.set(written, finding);
      }
    for (const finding of unread.values()) if (finding) yield finding;
    yield* unreadTools(graph, vocabulary);
  },
};

function unreadAt(
  graph: Graph,
  node: GraphNode,
  key: string,
  { at, value }: GraphAttribute,
  vocabulary: RegisteredNames,
): RuleFinding | undefined {
  const { handlers } = vocabulary;
  const readers = Object.hasOwn(READERS, key) ? READERS[key] : undefined;
  const type = handlerTypeOf(node, handlers);
  if (!readers || value.text === '' || !BUILT_IN_HANDLERS.has(type) || handlers?.has(type)) return undefined;
  const found = { ...aboutNode(node), at };
  if (!readers.types.includes(type))
    return {
      message: `\`${key}\` of \`${node.id}\` has no effect: only ${readers.are} read it`,
      ...found,
      fix: fixOf(key, type) ?? `remove it, or make the node one of them with \`shape=${readers.shape}\``,
    };
  if (key !== 'tools' || !isCommand(graph, node, vocabulary)) return undefined;
  return { message: `\`tools\` of \`${node.id}\` has no effect: its backend is ${NO_TOOLS}`, ...found, fix: TOOLS_INSTEAD };
}

function fixOf(key: string, type: string): string | undefined {
  if (key === 'prompt' && type === 'wait.human') return 'the question is the `label` of the gate';
  if (key === 'timeout') return 'remove it';
  return undefined;
}

const NO_TOOLS = 'a command, which is given no tools';
const TOOLS_INSTEAD = 'write them into the command, or name a program instead: `backend=claude`';

/** Reports the tools of the graph where the backends of all model stages are commands. */
function* unreadTools(graph: Graph, vocabulary: RegisteredNames): Generator<RuleFinding> {
  const { handlers } = vocabulary;
  const tools = graph.attributes.get('tools');
  const stages = [...graph.nodes.values()].filter(
    (node) => MODEL.types.includes(handlerTypeOf(node, handlers)) && nodeAttribute(node, 'tools') === undefined,
  );
  if (!tools || tools.value.text === '' || stages.length === 0 || !stages.every((node) => isCommand(graph, node, vocabulary))) return;
  yield { message: `\`tools\` of the graph has no effect: each backend is ${NO_TOOLS}`, at: tools.at, fix: TOOLS_INSTEAD };
}

function isCommand(graph: Graph, node: GraphNode, { backend, backends }: RegisteredNames): boolean {
  const written = backend ?? (nodeAttribute(node, 'backend') || graphAttribute(graph, 'backend') || '');
  const { kind } = backendParts(written);
  return ['cmd', 'worker'].includes(kind) && backends?.has(kind) !== true;
}
