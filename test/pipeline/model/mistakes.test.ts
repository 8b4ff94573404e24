import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SyntaxFailure } from '../../../grammar/errors.js';
import { locate } from '../../../grammar/parse.js';
import { parseCondition, parsePipeline, parseStylesheet } from '../../../grammar/parse-dot.js';
import { sourceFiles } from '../../support/source-files.js';

function failureOf(parse: () => unknown): SyntaxFailure {
  try {
    parse();
  } catch (error) {
    if (error instanceof SyntaxFailure) return error;
    throw error;
  }
  throw new Error('it parsed');
}

/** Each row has a text, the position of the caret, the code, and the message. */
const pipelines: [text: string, place: string, code: string, message: string][] = [
  ['', '1:1', 'dot_syntax', 'A pipeline begins with `digraph`, not with the end'],
  ['\uFEFFflow g {}', '1:1', 'dot_syntax', 'A pipeline begins with `digraph`, not with `flow`'],
  ['DIGRAPH g {}', '1:1', 'dot_syntax', '`DIGRAPH` is written in lower case'],
  ['graph g { a -- b }', '1:1', 'dot_undirected', 'A pipeline is a directed graph'],
  ['// x\nstrict digraph g {}', '2:1', 'dot_strict', '`strict` is not part of a pipeline'],
  ['digraph {}', '1:9', 'dot_graph_name', 'The graph has no name'],
  ['digraph', '1:8', 'dot_graph_name', 'The graph has no name'],
  ['digraph my-plan {}', '1:9', 'dot_graph_name', '`my-plan` is not the name of a graph'],
  ['digraph Node {}', '1:9', 'dot_graph_name', '`Node` is a reserved word, not the name of a graph'],
  ['digraph "a b" {}', '1:9', 'dot_graph_name', 'The name of a graph is not quoted'],
  ['digraph g', '1:10', 'dot_syntax', 'Expected `{` after the name of the graph, found the end'],
  ['digraph g {', '1:12', 'dot_syntax', 'The graph is not closed'],
  ['digraph g {} }', '1:14', 'dot_one_graph', 'Found `}` after the end of the graph'],
  ['digraph g {}\ndigraph h {}', '2:1', 'dot_one_graph', 'A file holds one graph, and here begins a second one'],
  ['digraph g { a -- b }', '1:15', 'dot_undirected', 'Edges have a direction'],
  ['digraph g { a -> b -- c }', '1:20', 'dot_undirected', 'Edges have a direction'],
  ['digraph g { a--b }', '1:14', 'dot_undirected', 'Edges have a direction'],
  ['digraph g { "a" -> b }', '1:13', 'dot_node_id', 'A node id is not quoted'],
  ['digraph g { a -> 1st }', '1:18', 'dot_node_id', '`1st` is not a node id: it begins with a digit'],
  ['digraph g { a.b }', '1:13', 'dot_node_id', '`a.b` is not a node id'],
  ['digraph g { größe [x=1] }', '1:13', 'dot_node_id', '`größe` is not a node id'],
  ['digraph g { é }', '1:13', 'dot_node_id', '`é` is not a node id'],
  ['digraph g { a -> graph }', '1:18', 'dot_node_id', "`graph` is a reserved word and can't be a node id"],
  ['digraph g { EDGE [weight=1] }', '1:13', 'dot_node_id', "`EDGE` is a reserved word and can't be a node id"],
  ['digraph g { node -> a }', '1:13', 'dot_node_id', "`node` is a reserved word and can't be a node id"],
  ['digraph g { strict }', '1:13', 'dot_node_id', "`strict` is a reserved word and can't be a node id"],
  ['digraph g { node; }', '1:17', 'dot_syntax', 'Expected `[` after `node`, found `;`'],
  ['digraph g { node = x }', '1:13', 'dot_syntax', '`node` is a keyword and not a key of an attribute'],
  ['digraph g { a [edge=x] }', '1:16', 'dot_syntax', '`edge` is a keyword and not a key of an attribute'],
  ['digraph g { "a b" = x }', '1:13', 'dot_syntax', 'a string is not a key'],
  ['digraph g { a:n -> b }', '1:14', 'dot_port', 'Nodes of a pipeline have no ports'],
  ['digraph g { a -> b : s }', '1:20', 'dot_port', 'Nodes of a pipeline have no ports'],
  ['digraph g { a [] }', '1:16', 'dot_attributes', 'The attribute list is empty'],
  ['digraph g { a [x=1 y=2] }', '1:20', 'dot_attributes', 'Attributes are separated by commas, not by spaces'],
  ['digraph g { a [x=1; y=2] }', '1:19', 'dot_attributes', 'Attributes are separated by commas, not by `;`'],
  ['digraph g { a [x=1,] }', '1:20', 'dot_attributes', 'A comma before the end of the attribute list'],
  ['digraph g { a [,x=1] }', '1:16', 'dot_attributes', 'A comma without an attribute before it'],
  ['digraph g { a [x=1] [y=2] }', '1:21', 'dot_attributes', 'A second attribute list'],
  ['digraph g { [x=1] }', '1:13', 'dot_attributes', 'An attribute list without a node, an edge or `graph`, `node`, `edge` before it'],
  ['digraph g { a [x=1', '1:19', 'dot_syntax', 'The attribute list is not closed'],
  ['digraph g { a [x-y=1] }', '1:16', 'dot_syntax', '`x-y` is not a key'],
  ['digraph g { a [bold] }', '1:16', 'dot_value', 'The key `bold` has no value'],
  ['digraph g { a [x=] }', '1:18', 'dot_value', 'Expected a value after `=`, found `]`'],
  ['digraph g { a [x=5.] }', '1:18', 'dot_value', '`5.` is neither a number nor a duration'],
  ['digraph g { a [x=1e3] }', '1:18', 'dot_value', '`1e3` is neither a number nor a duration'],
  ['digraph g { a [x=1h30m] }', '1:18', 'dot_value', '`1h30m` is neither a number nor a duration'],
  ['digraph g { a [x=./run.sh] }', '1:18', 'dot_value', '`./run.sh` is not a value'],
  ['digraph g { a [x="y"z=1] }', '1:21', 'dot_value', 'Expected a comma or a space after the string, found `z`'],
  ['digraph g { a [x=<b>] }', '1:18', 'dot_html', 'HTML is not a value'],
  ['digraph g { a [x="\ny] }', '1:18', 'dot_string', 'The string is not closed'],
  ['digraph g { a [x="\\q"] }', '1:19', 'dot_string', '`\\q` is not an escape'],
  ['digraph g { a [x="y\\', '1:18', 'dot_string', 'The string is not closed'],
  ['digraph g { a [x="y"+"z"] }', '1:21', 'dot_string', 'Strings are not joined with `+`'],
  ['digraph g { x="y" + "z" }', '1:19', 'dot_string', 'Strings are not joined with `+`'],
  ['digraph g { a /* x }', '1:15', 'dot_comment', 'The comment is not closed'],
  ['digraph g {\n# x\n}', '2:1', 'dot_comment', '`#` does not begin a comment'],
  ['digraph g { a -> {b c} }', '1:18', 'dot_edge_group', 'A group of nodes is not an end of an edge'],
  ['digraph g { a -> subgraph s {b} }', '1:18', 'dot_edge_group', 'A group of nodes is not an end of an edge'],
  ['digraph g { subgraph s {b} -> a }', '1:28', 'dot_edge_group', 'A subgraph is not an end of an edge'],
  ['digraph g { subgraph s -> a }', '1:24', 'dot_edge_group', 'A subgraph is not an end of an edge'],
  ['digraph g { { a } }', '1:13', 'dot_edge_group', 'A block without `subgraph`'],
  ['digraph g { a;; }', '1:15', 'dot_syntax', 'A `;` without a statement before it'],
  ['digraph g { a -> }', '1:18', 'dot_syntax', 'Expected a node id after `->`, found `}`'],
  ['digraph g { -> a }', '1:13', 'dot_syntax', 'An edge without a node before `->`'],
  ['digraph g { a, b }', '1:14', 'dot_syntax', 'Expected a statement, found `,`'],
  ['digraph g { subgraph "s" {} }', '1:22', 'dot_syntax', 'Expected `{` after `subgraph`, found a string'],
];

describe('a text that is not a pipeline', () => {
  it.each(pipelines)('%j', (text, place, code, message) => {
    const failure = failureOf(() => parsePipeline(text));
    const { line, column } = locate(text, failure.at);
    expect([`${line}:${column}`, failure.code, failure.message]).toEqual([place, code, message]);
  });

  it('gets the hint of its mistake', () => {
    expect(failureOf(() => parsePipeline('digraph g { a-b }')).hint).toContain('letters, digits and `_`');
    expect(failureOf(() => parsePipeline('digraph g { a [x=90sec] }')).hint).toContain('ms, s, m, h, d');
  });

  it('has each of its codes in the documentation', () => {
    const documentation = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'pipelines.md'), 'utf8');
    const codes = sourceFiles(['grammar']).flatMap(({ code }) => [...code.matchAll(/'(dot_\w+)'/g)].map(([, name]) => name));
    expect(new Set(codes).size).toBe(14);
    for (const code of codes) expect(documentation).toContain(`| \`${code}\``);
  });
});

describe('limits', () => {
  const nested = (depth: number) => `digraph g {${'subgraph {'.repeat(depth)}${'}'.repeat(depth)}}`;
  const chain = (length: number) => Array.from({ length }, () => 'a').join('->');

  it.each([
    ['subgraphs', nested(33), nested(32), 'more than 32 deep'],
    ['nodes', `digraph g {${numbered(10_001)}}`, `digraph g {${numbered(10_000)}}`, 'more than 10000 nodes'],
    ['edges', `digraph g {${chain(50_002)}}`, `digraph g {${chain(50_001)}}`, 'more than 50000 edges'],
    [
      'a string',
      `digraph g { a [x="${'é'.repeat(131_073)}"] }`,
      `digraph g { a [x="${'é'.repeat(131_072)}"] }`,
      'longer than 262144 bytes',
    ],
    ['the file', `digraph g {}${' '.repeat(1024 * 1024)}`, `digraph g {}${' '.repeat(1024 * 1024 - 12)}`, 'larger than 1048576 bytes'],
  ])('of %s are named', (_, beyond, within, message) => {
    expect(failureOf(() => parsePipeline(beyond))).toMatchObject({ code: 'dot_limit', message: expect.stringContaining(message) });
    expect(parsePipeline(within).name).toBe('g');
  });
});

describe('a text that is not a condition', () => {
  it.each([
    ['outcome==success', 7, '`==` is not an operator'],
    ['outcome!==success', 7, '`!==` is not an operator'],
    ['outcome=a || outcome=b', 10, 'A condition has no `||`'],
    ['outcome=a & outcome=b', 10, '`&` does not join clauses'],
    ['!outcome=a', 0, '`!` does not negate a clause'],
    ['context.ready', 13, 'A key alone is not a clause'],
    ['context.ready && outcome=a', 14, 'A key alone is not a clause'],
    ['ready=yes', 0, '`ready` is not a key of a condition'],
    ['outcome.x=yes', 0, '`outcome.x` is not a key of a condition'],
    ['context=yes', 0, '`context` is not a key of a condition'],
    ['context.n>3', 9, 'Expected `=` or `!=`, found `>`'],
    ['context.n=0.5', 10, '`0.5` is not a value of a condition'],
    ['context.n=3s', 10, '`3s` is not a value of a condition'],
    ['outcome=', 8, 'Expected a value, found the end'],
    ['outcome=a &&', 12, 'A clause is missing beside `&&`'],
    ['&& outcome=a', 0, 'A clause is missing beside `&&`'],
    ['context.city="Oslo', 13, 'The string is not closed'],
    ['context.city="a\\q"', 15, '`\\q` is not an escape'],
    ['context.city=New York', 17, 'Expected `&&` or the end of the condition, found `York`'],
  ])('%j', (text, at, message) => {
    const failure = failureOf(() => parseCondition(text));
    expect([failure.code, failure.at, failure.message]).toEqual(['condition_syntax', at, message]);
  });
});

describe('a text that is not a stylesheet', () => {
  it.each([
    ['* { llm_model: m', 16, 'The rule is not closed'],
    ['* { llm_model: m llm_provider: p }', 17, 'Expected `;` or `}`, found `llm_provider`'],
    ['* { temperature: hot }', 4, '`temperature` is not a property'],
    ['* { llm_model m }', 13, 'Expected `:` after `llm_model`'],
    ['* { llm_model: 4o }', 15, '`4o` is not a bare word'],
    ['* { reasoning_effort: extreme }', 22, '`extreme` is not a reasoning effort'],
    ['box { }', 6, 'The rule declares nothing'],
    ['a b { llm_model: m }', 2, 'Expected `{` after `a`, found `b`'],
    ['7 { llm_model: m }', 0, '`7` selects nothing'],
    ['* { llm_model: m } x', 20, 'Expected `{` after `x`, found the end'],
    ['/* no comments */ * { llm_model: m }', 0, 'A stylesheet has no comments'],
    [' ', 1, 'The stylesheet has no rules'],
  ])('%j', (text, at, message) => {
    const failure = failureOf(() => parseStylesheet(text));
    expect([failure.code, failure.at, failure.message]).toEqual(['stylesheet_syntax', at, message]);
  });
});

function numbered(count: number): string {
  return Array.from({ length: count }, (_, i) => `n${i}`).join(' ');
}
