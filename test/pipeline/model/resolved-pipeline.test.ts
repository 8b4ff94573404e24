import { describe, expect, it } from 'vitest';
import {
  edgeAttribute,
  graphAttribute,
  modelSettingsOf,
  nodeAttribute,
  type Graph,
  type GraphNode,
} from '../../../src/pipeline/model/graph.js';
import { preparePipeline } from '../../../src/pipeline/model/prepare.js';
import { entriesOf, exitsOf, handlerTypeOf, shapeOf } from '../../../src/pipeline/model/shapes.js';

const graphOf = (body: string): Graph => preparePipeline(`digraph g {${body}}`);

function nodeOf(graph: Graph, id: string): GraphNode {
  const node = graph.nodes.get(id);
  if (!node) throw new Error(`no node ${id}`);
  return node;
}

/** Everything that is written or inherited. */
const written = (graph: Graph, id: string): Record<string, string> =>
  Object.fromEntries([...nodeOf(graph, id).attributes].map(([key, { value }]) => [key, value.text]));

describe('defaults', () => {
  it('apply to nodes and edges that are created after them, and a later block adds and overrides', () => {
    const graph = graphOf('a node [x=1, y=1] b node [y=2] c [x=3] b [z=4]');
    expect(written(graph, 'a')).toEqual({});
    expect(written(graph, 'b')).toEqual({ x: '1', y: '1', z: '4' });
    expect(written(graph, 'c')).toEqual({ x: '3', y: '2' });
  });

  it('of a subgraph start with those outside and end with it', () => {
    const graph = graphOf('node [x=1] subgraph { node [y=2] a subgraph { node [x=3] b } c } d');
    expect(written(graph, 'a')).toEqual({ x: '1', y: '2' });
    expect(written(graph, 'b')).toEqual({ x: '3', y: '2' });
    expect(written(graph, 'c')).toEqual({ x: '1', y: '2' });
    expect(written(graph, 'd')).toEqual({ x: '1' });
  });

  it('of edges follow the same rules, for each pair of a chain', () => {
    const { edges } = graphOf('a -> b edge [weight=2] subgraph { edge [label=in] b -> c -> d [weight=3] } d -> e');
    const shown = edges.map((edge) => [edge.from, edge.to, edgeAttribute(edge, 'weight'), edgeAttribute(edge, 'label')]);
    expect(shown).toEqual([
      ['a', 'b', undefined, undefined],
      ['b', 'c', 3, 'in'],
      ['c', 'd', 3, 'in'],
      ['d', 'e', 2, undefined],
    ]);
  });
});

describe('nodes and edges', () => {
  it('are created by node statements only', () => {
    expect([...graphOf('a -> b; b').nodes.keys()]).toEqual(['b']);
  });

  it('keep declaration order, and repeated edges are edges of their own', () => {
    const graph = graphOf('c a b a -> b a -> a a -> b');
    expect([...graph.nodes.keys()]).toEqual(['c', 'a', 'b']);
    expect(graph.outgoing('a').map(({ to }) => to)).toEqual(['b', 'a', 'b']);
    expect(graph.outgoing('nobody')).toEqual([]);
  });
});

describe('graph attributes', () => {
  it('are those of the top level, the last one wins', () => {
    const graph = graphOf('graph [goal=a, label=l] goal=b subgraph { goal=c label=x graph [goal=d] }');
    expect(graphAttribute(graph, 'goal')).toBe('b');
    expect(graphAttribute(graph, 'label')).toBe('l');
  });
});

describe('classes', () => {
  it.each([
    ['"Bee Yard #2"', ['bee-yard-2']],
    ['"  "', ['--']],
    ['"Größe"', ['gre']],
    ['"#!"', []],
    ['""', []],
  ])('come from the label of a subgraph: %s', (label, classes) => {
    expect(nodeOf(graphOf(`subgraph { a label=${label} }`), 'a').classes).toEqual(classes);
  });

  it('are those of the node and of every subgraph around any of its statements, by the final labels', () => {
    const graph = graphOf(
      'subgraph { label=Old a [class=" own , Two,"] subgraph { graph [label=Inner] b } label=Outer } subgraph { label=Else b }',
    );
    expect(nodeOf(graph, 'a').classes).toEqual(['own', 'Two', 'outer']);
    expect(nodeOf(graph, 'b').classes).toEqual(['outer', 'inner', 'else']);
    expect(nodeOf(graph, 'b').innermostClass).toBe('inner');
  });
});

describe('entry and exit', () => {
  const terminals = (body: string) => [entriesOf(graphOf(body)).map(({ id }) => id), exitsOf(graphOf(body)).map(({ id }) => id)];

  it.each([
    ['a [shape=Mdiamond] z [shape=Msquare]', ['a'], ['z']],
    ['start end', ['start'], ['end']],
    ['Start Exit', ['Start'], ['Exit']],
    ['start Start exit End', ['start', 'Start'], ['exit', 'End']],
    ['a [shape=Mdiamond] start z [shape=Msquare] exit', ['a'], ['z']],
    ['start [shape=box] end [type=tool]', [], []],
    ['node [shape=box, type=tool] start exit', ['start'], ['exit']],
    ['START EXIT', [], []],
  ])('%s', (body, entries, exits) => {
    expect(terminals(body)).toEqual([entries, exits]);
  });

  it('keep their kind when they are named by a bare id, whatever the defaults say', () => {
    const graph = graphOf('node [shape=box, type=tool] start exit');
    expect(handlerTypeOf(nodeOf(graph, 'start'))).toBe('start');
    expect(handlerTypeOf(nodeOf(graph, 'exit'))).toBe('exit');
  });
});

describe('handlers', () => {
  it.each([
    ['a', 'codergen'],
    ['a [shape=diamond]', 'conditional'],
    ['a [shape=ellipse]', 'codergen'],
    ['a [shape=constructor]', 'codergen'],
    ['a [shape=diamond, type=tool]', 'tool'],
    ['a [shape=diamond, type=teleport]', 'conditional'],
    ['a [shape=diamond, type=mine]', 'mine'],
    ['a [shape=""]', 'codergen'],
  ])('%s', (body, handler) => {
    expect(handlerTypeOf(nodeOf(graphOf(body), 'a'), new Set(['mine']))).toBe(handler);
  });
});

describe('typed attributes', () => {
  it('read literals, bare and quoted; undefined outside of their type', () => {
    const a = nodeOf(
      graphOf('a [max_retries="3", timeout=15m, goal_gate="true", retry_factor=.5, max_parallel=0, tool_command=true, retry_delay=250ms]'),
      'a',
    );
    expect(nodeAttribute(a, 'max_retries')).toBe(3);
    expect(nodeAttribute(a, 'timeout')).toBe(900_000);
    expect(nodeAttribute(a, 'retry_delay')).toBe(250);
    expect(nodeAttribute(a, 'goal_gate')).toBe(true);
    expect(nodeAttribute(a, 'retry_factor')).toBe(0.5);
    expect(nodeAttribute(a, 'max_parallel')).toBeUndefined();
    expect(nodeAttribute(a, 'tool_command')).toBe('true');
    expect(nodeAttribute(a, 'prompt')).toBeUndefined();
  });
});

describe('the goal', () => {
  it('replaces $goal everywhere in prompts, once, and nowhere else', () => {
    const graph = graphOf('goal="$goal & $& done" a [prompt="$goal, $goals, $other", label="$goal", tool_command="echo $goal"] b');
    expect(written(graph, 'a')).toEqual({
      prompt: '$goal & $& done, $goal & $& dones, $other',
      label: '$goal',
      tool_command: 'echo $goal',
    });
    expect(written(graph, 'b')).toEqual({});
  });
});

describe('the stylesheet', () => {
  const settings = (body: string) => {
    const graph = graphOf(body);
    return modelSettingsOf(graph, nodeOf(graph, 'a'));
  };
  const sheet = (rules: string) => `model_stylesheet="${rules}"`;

  it.each([
    ['nothing said', 'a', { effort: 'high' }],
    ['a rule for all', `${sheet('* { llm_model: m; reasoning_effort: low }')} a`, { model: 'm', effort: 'low' }],
    ['shape beats all', `${sheet('box { llm_model: s } * { llm_model: m }')} a`, { model: 's', effort: 'high' }],
    ['class beats shape', `${sheet('.c { llm_model: c } box { llm_model: s }')} a [class="x,c"]`, { model: 'c', effort: 'high' }],
    ['id beats class', `${sheet('#a { llm_model: i } .c { llm_model: c }')} a [class=c]`, { model: 'i', effort: 'high' }],
    ['the later of equals wins', `${sheet('.c { llm_model: x } .d { llm_model: y }')} a [class="d,c"]`, { model: 'y', effort: 'high' }],
    ['each property by itself', `${sheet('#a { llm_model: i } * { llm_provider: p }')} a`, { model: 'i', provider: 'p', effort: 'high' }],
    ['an attribute of the node beats it', `${sheet('#a { llm_model: i }')} a [llm_model=own]`, { model: 'own', effort: 'high' }],
    ['and so does a default', `node [llm_model=d] ${sheet('#a { llm_model: i }')} a`, { model: 'd', effort: 'high' }],
    ['it beats the graph', `llm_model=g ${sheet('* { llm_model: m }')} a`, { model: 'm', effort: 'high' }],
    ['the graph', 'llm_model=g reasoning_effort=medium a', { model: 'g', effort: 'medium' }],
    ['no rule matches', `${sheet('hexagon { llm_model: h } #b { llm_model: b } .z { llm_model: z }')} a`, { effort: 'high' }],
    ['the provider of a model', 'llm_model="claude-x" a', { model: 'claude-x', provider: 'anthropic', effort: 'high' }],
    ['of another', 'llm_model=o3-mini a', { model: 'o3-mini', provider: 'openai', effort: 'high' }],
    ['of a third', 'llm_model=gemini-9 a', { model: 'gemini-9', provider: 'gemini', effort: 'high' }],
    ['but not over one that is set', 'llm_model=gpt-5 llm_provider=azure a', { model: 'gpt-5', provider: 'azure', effort: 'high' }],
  ])('%s', (_, body, expected) => {
    expect(settings(body)).toEqual(expected);
  });

  it('matches the class of a subgraph', () => {
    expect(settings(`${sheet('.deep-sea { llm_model: d }')} subgraph { label="Deep sea" a }`)).toEqual({ model: 'd', effort: 'high' });
  });
});

describe('transforms of a program', () => {
  it('run after the built-in ones, in order, and do not change the graph that they get', () => {
    const seen: string[] = [];
    const shout = (word: string) => (graph: Graph) => {
      const a = nodeOf(graph, 'a');
      const prompt = `${nodeAttribute(a, 'prompt')}${word}`;
      seen.push(prompt);
      const attributes = new Map(a.attributes).set('prompt', { at: a.at, value: { at: a.at, kind: 'string', text: prompt } });
      return graph.with({ nodes: new Map(graph.nodes).set('a', { ...a, attributes }) });
    };
    const text = 'digraph g { goal=x a [prompt="$goal"] a -> a }';
    const graph = preparePipeline(text, [shout('!'), shout('?')]);
    expect(seen).toEqual(['x!', 'x!?']);
    expect(graph.outgoing('a')).toHaveLength(1);
    expect(shapeOf(nodeOf(graph, 'a'))).toBe('box');
    expect(written(preparePipeline(text), 'a')).toEqual({ prompt: 'x' });
  });
});
