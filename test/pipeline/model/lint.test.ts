import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { locate } from '../../../grammar/parse.js';
import { lintPipeline, type LintOptions } from '../../../src/pipeline/lint/lint.js';
import { LINT_RULES } from '../../../src/pipeline/lint/rules.js';
import { validate, validateOrThrow } from '../../../src/pipeline/lint/validate.js';
import { preparePipeline } from '../../../src/pipeline/model/prepare.js';

const ENDS = 'start [shape=Mdiamond]; exit [shape=Msquare];';

/** Findings as `severity rule line:column about`; the body begins in line 2. */
function findings(body: string, options?: LintOptions): string[] {
  const text = `digraph g {\n${body}\n}`;
  return lintPipeline(preparePipeline(text), options).map(({ severity, rule, at, node, edge }) => {
    const { line, column } = locate(text, at);
    return `${severity} ${rule} ${line}:${column}${node === undefined ? '' : ` ${node}`}${edge ? ` ${edge.join('->')}` : ''}`;
  });
}

const about = (rule: string, body: string, options?: LintOptions): string[] =>
  findings(body, options).filter((line) => line.includes(` ${rule} `));

/** A rule, a body that it says nothing about, one that it finds, and what it finds. */
const table: [rule: string, sound: string, unsound: string, found: string[]][] = [
  ['start_node', `${ENDS} start->exit`, 'a exit a->exit', ['error start_node 1:1']],
  ['start_node', 'start exit start->exit', 'a [shape=Mdiamond] b [shape=Mdiamond]', ['error start_node 2:20 b']],
  ['terminal_node', 'start end start->end', 'start', ['error terminal_node 1:1']],
  ['terminal_node', `${ENDS} end [shape=box]`, 'exit end', ['error terminal_node 2:6 end']],
  ['reachability', 'start a b exit start->a->exit a [retry_target=b]', 'start a exit start->exit', ['error reachability 2:7 a']],
  [
    'reachability',
    'fallback_retry_target=a start a exit start->exit',
    'start a b exit start->exit a->b->a',
    ['error reachability 2:7 a', 'error reachability 2:9 b'],
  ],
  // A target of a node that is not met itself leads nowhere.
  [
    'reachability',
    'a exit a->exit',
    'start a b exit start->exit a [retry_target=b]',
    ['error reachability 2:7 a', 'error reachability 2:9 b'],
  ],
  ['edge_target_exists', 'a->b b a', 'a->bb b a', ['error edge_target_exists 2:4 a->bb']],
  ['edge_target_exists', 'a->a a', 'x->y', ['error edge_target_exists 2:1 x->y', 'error edge_target_exists 2:4 x->y']],
  ['start_no_incoming', 'start a start->a', 'start a a->start', ['error start_no_incoming 2:12 a->start']],
  ['exit_no_outgoing', 'exit a a->exit', 'exit a exit->a', ['error exit_no_outgoing 2:8 exit->a']],
  [
    'condition_syntax',
    'a->b [condition="outcome=fail"] a->b [condition=" "]',
    'a->b [condition="a\\"b"]',
    ['error condition_syntax 2:18 a->b'],
  ],
  [
    'condition_syntax',
    'a [manager.stop_condition="outcome=fail"]',
    'a [manager.stop_condition="outcome=fail ||"]',
    ['error condition_syntax 2:41 a'],
  ],
  [
    'stylesheet_syntax',
    'model_stylesheet="* { llm_model: m }"',
    'model_stylesheet="* { llm_model: \\"m }"',
    ['error stylesheet_syntax 2:34'],
  ],
  ['stylesheet_syntax', 'model_stylesheet=""', 'model_stylesheet=" "', ['error stylesheet_syntax 2:20']],
  [
    'attribute_value',
    'a [max_retries=0, timeout="5s", reasoning_effort="", owner=7]',
    'a [max_retries=-1]',
    ['error attribute_value 2:16 a'],
  ],
  ['attribute_value', 'a->b [weight=-1, loop_restart=false]', 'a->b->c [weight=1.5]', ['error attribute_value 2:17 a->b']],
  ['attribute_value', 'max_jumps=0 max_steps=1', 'max_steps=0', ['error attribute_value 2:11']],
  ['attribute_value', 'node [backend="cmd:cat"] a b', 'node [backend="cmd:"] a b', ['error attribute_value 2:15 a']],
  ['attribute_value', 'backend=claude a [backend="codex: --full-auto"]', 'a [backend=claud]', ['error attribute_value 2:12 a']],
  ['attribute_value', 'backend=simulated a [backend="exe:m.mld#f"]', 'a [backend="exe:m.mld"]', ['error attribute_value 2:12 a']],
  ['attribute_value', 'a [llm_model="m-1"]', 'a [llm_model="--yolo"]', ['error attribute_value 2:14 a']],
  ['attribute_value', 'tools="Read, Bash(ls -l, -a)" a [tools=""]', 'tools="Read, --yolo"', ['error attribute_value 2:7']],
  [
    'attribute_unused',
    'node [llm_model=m, prompt="$goal"] a b [shape=parallelogram, tool_command="ls"] c [type=mine, tools=x]',
    'a [tool_command="ls"] b [shape=diamond, prompt=p, max_parallel=2]',
    ['warning attribute_unused 2:4 a', 'warning attribute_unused 2:41 b', 'warning attribute_unused 2:51 b'],
  ],
  [
    'attribute_unused',
    'node [timeout=2s] a [shape=component] d b [shape=hexagon, timeout=1m] c [shape=house, timeout=1h]',
    'a [shape=Mdiamond, timeout=2s] b [shape=diamond, timeout=1m]',
    ['warning attribute_unused 2:20 a', 'warning attribute_unused 2:50 b'],
  ],
  ['attribute_unused', 'a [tools=Read, backend=claude]', 'backend="cmd:cat" a [tools=Read]', ['warning attribute_unused 2:22 a']],
  [
    'attribute_unused',
    'tools=Read backend="worker:w" a b [backend=codex]',
    'tools=Read backend="cmd:c" a',
    ['warning attribute_unused 2:1'],
  ],
  ['attribute_value', 'a [goal_gate=true]', 'a [goal_gate=""]', ['error attribute_value 2:14 a']],
  ['attribute_value', 'a [join_policy=wait_all, retry_policy=patient]', 'a [join_policy=most]', ['error attribute_value 2:16 a']],
  ['attribute_value', 'a [retry_delay=1d]', 'a [retry_delay=0s]', ['error attribute_value 2:16 a']],
  [
    'human_choices',
    'q [shape=hexagon] q->a [label="[Y] Go"] q->b [label="Go on"]',
    'q [shape=hexagon] q->a [label="[Y] Go"] q->b [label="g - GO"]',
    ['error human_choices 2:41 q q->b'],
  ],
  ['human_choices', 'q [shape=hexagon] q->a q->b', 'q [shape=hexagon] q->a q->a', ['error human_choices 2:24 q q->a']],
  [
    'human_choices',
    'q [shape=hexagon] q->a q->a [condition="outcome=fail"]',
    'q [type="wait.human"] q->a q->b [label=A]',
    ['error human_choices 2:28 q q->b'],
  ],
  [
    'parallel_join',
    'p [shape=component] a b j [shape=tripleoctagon] p->a->j p->b->j',
    'p [shape=component] a j [shape=tripleoctagon] k [shape=tripleoctagon] p->a->j a->k',
    ['error parallel_join 2:1 p'],
  ],
  ['node_id', 'artifact', 'artifacts', ['error node_id 2:1 artifacts']],
  ['node_id', 'sort sorts', 'sort Sort SORT', ['warning node_id 2:6 Sort', 'warning node_id 2:11 SORT']],
  ['type_known', 'a [type=tool] b [type=""]', 'a [type=toool]', ['warning type_known 2:1 a']],
  ['shape_known', 'a [shape=box] b [shape=ellipse, type=tool]', 'a [shape=ellipse]', ['warning shape_known 2:1 a']],
  [
    'fidelity_valid',
    'default_fidelity=full a [fidelity=summary:low] b [fidelity=""]',
    'a [fidelity=summary]',
    ['warning fidelity_valid 2:13 a'],
  ],
  [
    'fidelity_valid',
    'fidelity=odd',
    'default_fidelity=odd a->b [fidelity=odd]',
    ['warning fidelity_valid 2:18', 'warning fidelity_valid 2:37 a->b'],
  ],
  [
    'retry_target_exists',
    'a [retry_target=a, fallback_retry_target=""]',
    'retry_target=x a [fallback_retry_target=y]',
    ['warning retry_target_exists 2:14', 'warning retry_target_exists 2:41 a'],
  ],
  [
    'goal_gate_has_retry',
    'a [goal_gate=true, retry_target=a] b [goal_gate=false]',
    'a [goal_gate=true]',
    ['warning goal_gate_has_retry 2:1 a'],
  ],
  [
    'goal_gate_has_retry',
    'retry_target=x a [goal_gate=true]',
    'a [goal_gate="true", retry_target=""]',
    ['warning goal_gate_has_retry 2:1 a'],
  ],
  ['prompt_on_llm_nodes', 'a [prompt=x] b [label=x] c [shape=diamond] d [type=tool]', 'a', ['warning prompt_on_llm_nodes 2:1 a']],
  [
    'manager_child',
    'graph [stack.child_dotfile="child.dot"] a [shape=house]',
    'a [shape=house, stack.child_autostart=false] b [shape=house] c [type="stack.manager_loop"]',
    ['warning manager_child 2:46 b', 'warning manager_child 2:62 c'],
  ],
  [
    'condition_outcome',
    'a->b [condition="outcome=partial_success && context.outcome=x"]',
    'a->b [condition="context.x=y && outcome!=failed"]',
    ['warning condition_outcome 2:33 a->b'],
  ],
  [
    'branch_condition',
    'd [shape=diamond] d->a [condition="outcome=fail"]',
    'p [shape=component] p->a [condition="outcome=fail"] p->b',
    ['warning branch_condition 2:21 p->a'],
  ],
  [
    'human_default',
    'q [shape=hexagon, human.default_choice=yes] q->a [label="[Y] Yes"]',
    'q [shape=hexagon, human.default_choice=later] q->a [label="[Y] Yes"] q->later [condition="outcome=fail"]',
    ['warning human_default 2:1 q'],
  ],
  ['human_default', 'q [human.default_choice=later]', 'q [shape=hexagon, human.default_choice=x]', ['warning human_default 2:1 q']],
  ['dead_end', 'a exit a->exit', 'a exit', ['warning dead_end 2:1 a']],
  ['attribute_unknown', 'a [my.owner=x, color=red, style=filled] b [height=2]', 'a [promt=x]', ['warning attribute_unknown 2:4 a']],
  [
    'attribute_unknown',
    'berth=4 a->b [condition="context.graph.berth=4"]',
    'max_visits=3 budget=2 a [goal=x]',
    ['warning attribute_unknown 2:1', 'warning attribute_unknown 2:14', 'warning attribute_unknown 2:26 a'],
  ],
  ['exit_reachable', 'start a exit start->a->exit', 'start a b exit start->a->b->a start->exit', ['warning exit_reachable 2:7 a']],
  ['exit_reachable', 'start a b exit start->a->exit a->b b->a', 'start a b exit start->exit start->a->b', ['warning exit_reachable 2:7 a']],
  [
    'exit_reachable',
    'start p [shape=component] a b m [shape=tripleoctagon] exit start->p p->a p->b->m->exit',
    'start p [shape=component] a b exit start->exit start->p p->a p->b',
    ['warning exit_reachable 2:7 p'],
  ],
  [
    'exit_reachable',
    'start a b [retry_target=a] exit start->a->b a->exit',
    'start a exit start->exit start->a->a',
    ['warning exit_reachable 2:7 a'],
  ],
  [
    'attribute_value',
    'p [shape=component, join_policy=k_of_n, k=2, error_policy=fail_fast] p->a p->b',
    'p [shape=component, join_policy=k_of_n, k=3] p->a p->b',
    ['error attribute_value 2:43 p'],
  ],
  ['attribute_value', 'p [shape=component, join_policy=quorum]', 'p [shape=component, k=1] p->a', ['error attribute_value 2:23 p']],
  ['attribute_value', 'a [error_policy=ignore]', 'p [shape=component, join_policy=k_of_n] p->a', ['error attribute_value 2:33 p']],
  [
    'attribute_unknown',
    'style=x a->b [style=dotted, xlabel=y]',
    'gaol=x a->b [wieght=2, Label=z]',
    ['warning attribute_unknown 2:1', 'warning attribute_unknown 2:14 a->b', 'warning attribute_unknown 2:24 a->b'],
  ],
];

describe('lint', () => {
  it.each(table)('%s: nothing about `%s`, but about `%s`', (rule, sound, unsound, found) => {
    expect(about(rule, sound)).toEqual([]);
    expect(about(rule, unsound)).toEqual(found);
  });

  it('has a test for every rule, and every rule in the documentation with its severity', () => {
    expect(new Set(table.map(([rule]) => rule))).toEqual(new Set(Object.keys(LINT_RULES)));
    const documentation = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'pipelines.md'), 'utf8');
    const documented = [...documentation.matchAll(/^\| `(\w+)` +\| (error|warning|info) /gm)].map(([, rule, severity]) => [rule, severity]);
    expect(documented).toEqual(Object.entries(LINT_RULES).map(([rule, { severity }]) => [rule, severity]));
  });

  it('reports findings in the order of the file', () => {
    expect(findings('start [shape=Mdiamond]\na [promt=x]\nexit\nstart->a->exit\nexit->a')).toEqual([
      'warning prompt_on_llm_nodes 3:1 a',
      'warning attribute_unknown 3:4 a',
      'error exit_no_outgoing 6:1 exit->a',
    ]);
  });

  it('reports a default that many nodes share once', () => {
    expect(about('attribute_value', 'node [max_retries=x] a b c')).toHaveLength(1);
  });

  it('knows the handlers and backends that a program has registered', () => {
    const body = 'a [type=teleport, shape=star, backend="pigeon:post"]';
    const vocabulary = { handlers: new Set(['teleport']), backends: new Set(['pigeon']) };
    expect(findings(body).some((line) => /type_known|shape_known|attribute_value/.test(line))).toBe(true);
    expect(findings(body, vocabulary).filter((line) => /type_known|shape_known|attribute_value/.test(line))).toEqual([]);
  });

  it('asks what reads an attribute with the backend and the handlers that there are', () => {
    const body = 'backend="cmd:cat" a [tools=Read] b [type=teleport, prompt=p, shape=diamond]';
    const unused = (options?: LintOptions): string[] => about('attribute_unused', body, options);
    expect(unused()).toHaveLength(2);
    expect(unused({ backend: 'claude', handlers: new Set(['teleport']) })).toEqual([]);
    expect(unused({ backends: new Set(['cmd']) })).toHaveLength(1);
    const [gate] = lintPipeline(preparePipeline(`digraph g { a [shape=hexagon, prompt="Open?"] }`)).filter(
      ({ rule }) => rule === 'attribute_unused',
    );
    expect(gate?.fix).toBe('the question is the `label` of the gate');
  });

  it('suggests the attribute that was meant, and names the nodes of a trap', () => {
    const told = lintPipeline(preparePipeline(`digraph g { max_visits=3 retires=2 ${ENDS} a b start->a->b->a start->exit }`));
    expect(told.map(({ message, fix }) => `${message}; ${fix}`)).toEqual([
      expect.stringMatching(/`max_visits` of the graph is not an attribute .*; did you mean .*`max_steps` of the graph/),
      expect.stringMatching(/`retires` of the graph .* `graph.retires` in the context/),
      ...told.slice(2, -1).map(() => expect.anything() as unknown),
      expect.anything() as unknown,
    ]);
    expect(told.find(({ rule }) => rule === 'exit_reachable')?.message).toContain("From `a`, `b` the exit can't be reached");
  });

  it('suggests what to write instead', () => {
    const graph = preparePipeline(`digraph g { ${ENDS} review [prompt=x] start -> reveiw; start -> review -> exit }`);
    expect(lintPipeline(graph)).toEqual([
      {
        rule: 'edge_target_exists',
        severity: 'error',
        message: 'The edge `start -> reveiw` names `reveiw`, which is not a node',
        edge: ['start', 'reveiw'],
        at: graph.text.indexOf('reveiw'),
        fix: 'did you mean `review`?',
      },
    ]);
  });
});

describe('joins', () => {
  const nested = 'f [shape=component] a i [shape=component] b c j [shape=tripleoctagon] k [shape=tripleoctagon] f->a->k f->i->b->j i->c->j';

  it('take a nested parallel node as one step to its own join', () => {
    expect(about('parallel_join', `${nested} j->k`)).toEqual([]);
  });

  it('are more than one when the nested join leads to another one', () => {
    expect(about('parallel_join', `${nested} l [shape=tripleoctagon] j->l`)).toEqual(['error parallel_join 2:1 f']);
  });

  it('are found although branches walk in circles and into each other', () => {
    const circle =
      'f [shape=component] i [shape=component] a j [shape=tripleoctagon] k [shape=tripleoctagon] f->i->a->f f->j i->k k->a i->j';
    expect(about('parallel_join', circle)).toEqual(['error parallel_join 2:21 i']);
  });

  it('are found in a chain of thousands of nested nodes', () => {
    const depth = 3000;
    const ids = Array.from({ length: depth }, (_, i) => `p${i}`);
    const body = `node [shape=component] ${ids.join(' ')} node [shape=tripleoctagon] j k ${ids.join('->')} -> j; p0 -> k; `;
    expect(about('parallel_join', body)).toEqual([]);
  });
});

describe('the library', () => {
  const graph = preparePipeline(`digraph g { ${ENDS} start -> exit }`);
  const broken = preparePipeline('digraph g { start exit [shape=box] }');
  const mine = () => [{ rule: 'mine', severity: 'error' as const, message: 'I do not like it', node: 'exit', at: 3, fix: 'start again' }];

  it('gives all findings, with those of custom rules', () => {
    expect(validate(graph)).toEqual([]);
    expect(validate(graph, [mine])).toEqual(mine());
  });

  it('throws when one of them is an error, and only then', () => {
    expect(validateOrThrow(graph)).toEqual([]);
    expect(() => validateOrThrow(graph, [mine])).toThrow(
      expect.objectContaining({ code: 'PIPELINE_INVALID', message: 'mine: I do not like it', hint: 'start again' }),
    );
    expect(() => validateOrThrow(broken)).toThrow(/terminal_node.*\(and 1 more\)/);
  });
});
