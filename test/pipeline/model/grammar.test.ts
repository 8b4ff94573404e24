import { describe, expect, it } from 'vitest';
import type { AttributeValue, GraphStatement } from '../../../grammar/dot-ast.js';
import { offsetInSource, parseCondition, parsePipeline, parseStylesheet } from '../../../grammar/parse-dot.js';

/** The statements of a graph as text, for tables: `a->b[k=kind:text]`. */
function outline(body: string): string {
  return parsePipeline(`digraph g {${body}}`).statements.map(show).join(' ');
}

function show(statement: GraphStatement): string {
  const list = (attributes: readonly { key: string; value: AttributeValue }[]) =>
    attributes.length === 0 ? '' : `[${attributes.map(({ key, value }) => `${key}=${value.kind}:${value.text}`).join(',')}]`;
  switch (statement.kind) {
    case 'defaults':
      return `${statement.of}${list(statement.attributes)}`;
    case 'assignment':
      return list([statement.attribute]);
    case 'subgraph':
      return `${statement.name ?? ''}{${statement.statements.map(show).join(' ')}}`;
    case 'node':
      return `${statement.id}${list(statement.attributes)}`;
    case 'edge':
      return `${statement.ends.map(({ id }) => id).join('->')}${list(statement.attributes)}`;
  }
}

const valueOf = (written: string): AttributeValue => {
  const [statement] = parsePipeline(`digraph g { k=${written} }`).statements;
  if (statement?.kind !== 'assignment') throw new Error('no assignment');
  return statement.attribute.value;
};

describe('statements', () => {
  it.each([
    ['', ''],
    [' a ', 'a'],
    ['a;b c', 'a b c'],
    ['a->b', 'a->b'],
    ['a -> b -> a [x=1]', 'a->b->a[x=integer:1]'],
    ['a [x=1,\n y = "2" ]', 'a[x=integer:1,y=string:2]'],
    ['graph [goal="g"] node[shape=box]; edge [weight=2]', 'graph[goal=string:g] node[shape=word:box] edge[weight=integer:2]'],
    ['rankdir=LR', '[rankdir=word:LR]'],
    ['"human.default_choice" = x; stack.child_dotfile="k"', '[human.default_choice=word:x] [stack.child_dotfile=string:k]'],
    ['subgraph s { a subgraph { b } };', 's{a {b}}'],
    ['subgraph { }', '{}'],
    ['a // b\n /* c\n d */ e', 'a e'],
    ['nodes -> edges -> graph_2 -> subgraphs', 'nodes->edges->graph_2->subgraphs'],
    ['node.x = 1', '[node.x=integer:1]'],
    ['node/**/[a=b]//', 'node[a=word:b]'],
    ['a [b=c/**/, d=e//\n]', 'a[b=word:c,d=word:e]'],
  ])('%j', (body, expected) => {
    expect(outline(`${body}\n`)).toBe(expected);
  });

  it('takes the name after digraph, and white space, comments and a byte-order mark around the graph', () => {
    expect(parsePipeline('\uFEFF// one\r\n digraph a_1{}\r\n/* end */ ')).toMatchObject({ name: 'a_1', statements: [] });
    expect(parsePipeline('digraph d//{\n{}').name).toBe('d');
  });

  it('records the position of everything', () => {
    const text = 'digraph g {\n  a -> bb [k="v"]\n}';
    expect(parsePipeline(text).statements[0]).toEqual({
      kind: 'edge',
      at: text.indexOf('a ->'),
      ends: [
        { id: 'a', at: text.indexOf('a ->') },
        { id: 'bb', at: text.indexOf('bb') },
      ],
      attributes: [{ key: 'k', at: text.indexOf('k='), value: { kind: 'string', text: 'v', at: text.indexOf('"v"') } }],
    });
  });
});

describe('values', () => {
  it.each([
    ['5', 'integer', '5'],
    ['-5', 'integer', '-5'],
    ['0.5', 'float', '0.5'],
    ['.5', 'float', '.5'],
    ['-.5', 'float', '-.5'],
    ['250ms', 'duration', '250ms'],
    ['90s', 'duration', '90s'],
    ['-2h', 'duration', '-2h'],
    ['true', 'boolean', 'true'],
    ['truer', 'word', 'truer'],
    ['true:no', 'word', 'true:no'],
    ['summary:high', 'word', 'summary:high'],
    ['gpt-5.2', 'word', 'gpt-5.2'],
    ['node', 'word', 'node'],
    ['""', 'string', ''],
    [String.raw`"a \"b\" \\n \\ \n\t."`, 'string', 'a "b" \\n \\ \n\t.'],
    ['"two\nlines // no comment /* */ # {"', 'string', 'two\nlines // no comment /* */ # {'],
    ['"3"', 'string', '3'],
  ])('%j is a %s', (written, kind, text) => {
    expect(valueOf(written)).toMatchObject({ kind, text });
  });
});

describe('conditions', () => {
  const clauses = (text: string) => parseCondition(text).clauses.map(({ key, operator, literal }) => [key, operator, literal]);

  it.each([
    ['outcome=success', [[{ of: 'outcome' }, '=', 'success']]],
    [' preferred_label != "Fix it" ', [[{ of: 'preferred_label' }, '!=', 'Fix it']]],
    [
      'context.a.b=3&&context.n=-1',
      [
        [{ of: 'context', name: 'a.b' }, '=', '3'],
        [{ of: 'context', name: 'n' }, '=', '-1'],
      ],
    ],
    ['context.x="a && b = \\"c\\""', [[{ of: 'context', name: 'x' }, '=', 'a && b = "c"']]],
    ['context.ok\n=\ttrue', [[{ of: 'context', name: 'ok' }, '=', 'true']]],
    ['context.v=v1.2-rc:3', [[{ of: 'context', name: 'v' }, '=', 'v1.2-rc:3']]],
    ['context.e=""', [[{ of: 'context', name: 'e' }, '=', '']]],
  ])('%j', (text, expected) => {
    expect(clauses(text)).toEqual(expected);
  });
});

describe('stylesheets', () => {
  it('have rules of selectors and declarations', () => {
    const text = '*{llm_model:a}box { llm_provider : "b c" ; reasoning_effort: low; } .Big-1_x{llm_model:m:1} #n_1 { llm_model: x }';
    expect(
      parseStylesheet(text).rules.map(({ selector, declarations }) => [selector, declarations.map((d) => [d.property, d.value])]),
    ).toEqual([
      [{ kind: 'all' }, [['llm_model', 'a']]],
      [
        { kind: 'shape', name: 'box' },
        [
          ['llm_provider', 'b c'],
          ['reasoning_effort', 'low'],
        ],
      ],
      [{ kind: 'class', name: 'Big-1_x' }, [['llm_model', 'm:1']]],
      [{ kind: 'id', name: 'n_1' }, [['llm_model', 'x']]],
    ]);
  });
});

describe('places inside of strings', () => {
  it.each([
    ['"ab\\n\\"cd"', 5, 'd'],
    ['"abc"', 0, 'a'],
    ['plain', 2, 'a'],
  ])('%s, character %i', (written, offset, expected) => {
    const text = `digraph g { k=${written} }`;
    expect(text[offsetInSource(text, valueOf(written), offset)]).toBe(expected);
  });
});
