/**
 * Makes random scripts, as trees without positions, of every construct that `print-script.ts` prints. None has the label `recursive`: two
 * calls of itself make 2^64 of them.
 */
import fc from 'fast-check';
import type { Tree } from './print-script.js';

type Gen = fc.Arbitrary<Tree>;

const node = (kind: string, members: { readonly [name: string]: fc.Arbitrary<unknown> } = {}, optional: readonly string[] = []): Gen =>
  fc.record(members, { requiredKeys: Object.keys(members).filter((name) => !optional.includes(name)) }).map((made) => ({
    kind,
    ...Object.fromEntries(
      Object.entries(made).flatMap(([name, value]) => (value === undefined ? [] : [[name === 'holds' ? 'then' : name, value]])),
    ),
  }));

const is = <T>(value: T): fc.Arbitrary<T> => fc.constant(value);
const variable = fc.constantFrom('a', 'b', 'c', 'item', 'long-name');
const fn = fc.constantFrom('f', 'g', 'h', 'ff');
const words = fc.constantFrom('one', ' two', ' a, b', ' (c)', ' 1.5 ', ' é', ' it is');
const language = fc.constantFrom('sh', 'js', 'node', 'py', 'bash');
const scalar = fc.oneof(fc.integer({ min: -9, max: 99 }), fc.constantFrom(true, false, null, 'x', 'a b', ''), fc.constantFrom(0.5, 12.25));
const literal = node('literal', { value: scalar });
const number = node('literal', { value: fc.integer({ min: 0, max: 3 }) });
const list = (of: fc.Arbitrary<unknown>, maxLength = 2, minLength = 0) => fc.array(of, { minLength, maxLength });
const plain = node('reference', { name: variable, steps: is([]) });
const textPart = node('text', { text: words });
const hole = plain.map((value) => ({ kind: 'hole', value, pipes: [] }));
interface Part {
  readonly kind: string;
  readonly text?: string;
}

/** Joins texts that follow each other, as they are read. */
function merged(pieces: readonly Part[]): readonly Part[] {
  return pieces.reduce<Part[]>((made, one) => {
    const last = made.at(-1);
    if (one.kind !== 'text' || last?.kind !== 'text') return [...made, one];
    return [...made.slice(0, -1), { kind: 'text', text: `${last.text ?? ''}${one.text ?? ''}` }];
  }, []);
}
const parts = fc.oneof(
  textPart.map((one) => [one]),
  fc.tuple(hole, words).map(([value, behind]) => [value, { kind: 'text', text: ` ${behind.trim()}` }]),
);
const quoted = node('template', { quote: fc.constantFrom('double', 'backtick'), parts });
/** `/for @item in @a … /end` on lines of their own. */
const lines = fc
  .tuple(
    fc.constantFrom(undefined, 'k'),
    fc.oneof(
      plain,
      node('array', {
        elements: list(
          plain.map((value) => ({ value })),
          2,
        ),
      }),
    ),
    list(parts, 2, 1),
  )
  .map(([key, source, bodies]) => [
    { kind: 'text', text: 'head\n' },
    {
      kind: 'loop-part',
      key,
      name: 'item',
      source,
      body: merged([{ kind: 'text', text: '- ' }, ...(bodies.flat() as Part[]), { kind: 'text', text: '\n' }]),
    },
    { kind: 'text', text: '\nfoot' },
  ]);
const template = fc.oneof({ weight: 5, arbitrary: quoted }, node('template', { quote: is('backtick'), parts: lines }));
const target = fc.oneof(node('file', { path: is([{ kind: 'text', text: 'out.txt' }]) }), node('stdout'), node('stderr'));

const path = (...names: string[]) => fc.constantFrom(...names).map((name) => [{ kind: 'text', text: name }]);
const title = path('One', 'None').map((written) => ({ include: [{ title: written }], exclude: [] }));
const load = fc.oneof(
  node('load', { path: path('data.json', 'notes.md', 'none.txt', '*.md'), optional: fc.constantFrom(undefined, true) }),
  node('load', { path: path('notes.md', 'none.md'), section: title, optional: fc.constantFrom(undefined, true) }),
);

/** `depth` bounds the size: each construct has parts of a smaller one. */
function expressions(depth: number): { readonly simple: Gen; readonly any: Gen; readonly stages: fc.Arbitrary<readonly unknown[]> } {
  if (depth <= 0) {
    const leaf = fc.oneof(literal, template, plain);
    return { simple: leaf, any: leaf, stages: is([{ kind: 'call-stage', name: 'f', path: [], args: [], called: false }]) };
  }
  const { simple, any } = expressions(depth - 1);
  const args = list(simple);
  const step = fc.oneof(
    node('field', { name: variable }),
    node('method', { name: fc.constantFrom('trim', 'includes', 'join', 'slice', 'isString'), args }),
    node('index', { index: fc.oneof(number, plain) }),
  );
  const reference = node('reference', { name: variable, steps: list(step) });
  const call = node('reference', { name: fn, steps: args.map((given) => [{ kind: 'apply', args: given }]) });
  const callStage = fc
    .tuple(fc.constantFrom('f', 'g', 'h', 'trim', 'upper', 'sort'), args, fc.boolean())
    .map(([name, given, called]) => ({ kind: 'call-stage', name, path: [], args: called ? given : [], called }));
  const called = fc.tuple(fn, args).map(([name, given]) => ({ kind: 'call-stage', name, path: [], args: given, called: true }));
  const group = list(called, 2, 2).map((members) => ({ kind: 'group-stage', members }));
  const effect = fc.oneof(
    node('effect-stage', { effect: fc.constantFrom('show', 'log') }),
    node('effect-stage', {
      effect: fc.constantFrom('output', 'append'),
      target: node('file', { path: is([{ kind: 'text', text: 'p.txt' }]) }),
    }),
  );
  const stages = fc.oneof(
    list(fc.oneof(callStage, effect), 3, 1),
    fc.tuple(callStage, group).map((both) => [...both]),
  );
  const element = fc.oneof(
    any.map((value) => ({ value })),
    plain.map((value) => ({ value, optional: true })),
  );
  const entry = fc.oneof(
    fc.tuple(fc.constantFrom('k', 'a b', 'n'), any).map(([key, value]) => ({ key, value })),
    plain.map((spread) => ({ spread })),
  );
  const simpleHere = fc.oneof(
    literal,
    template,
    reference,
    call,
    node('array', { elements: list(element) }),
    node('object', { entries: list(entry) }),
  );
  const code = fc
    .tuple(language, fc.constantFrom(' echo 1 ', ' return 1 '))
    .map(([lang, body]) => ({ kind: 'code', language: lang, text: [{ kind: 'text', text: body }] }));
  const arm = (condition: fc.Arbitrary<unknown>) =>
    node('arm', { condition, action: fc.oneof(actions(depth - 1), any, valueBlock(depth - 1)) });
  const rest = is({ kind: 'arm', condition: 'any', action: { kind: 'literal', value: 1 } });
  const arms = fc.tuple(list(arm(any), 2), rest).map(([some, last]) => [...some, last]);
  const pattern = fc
    .tuple(fc.constantFrom('==', '!=', '<', '>='), simple)
    .map(([operator, right]) => ({ kind: 'binary', operator, left: { kind: 'subject' }, right }));
  const matches = fc.tuple(list(arm(pattern), 2), rest).map(([some, last]) => [...some, last]);
  const anyHere = fc.oneof(
    { weight: 6, arbitrary: simpleHere },
    load,
    node('unary', { operator: is('!'), operand: simple }),
    node('binary', { operator: fc.constantFrom('+', '-', '*', '==', '!=', '<', '>=', '&&', '||', '??', '~='), left: any, right: any }),
    node('ternary', { condition: any, holds: any, otherwise: any }),
    node('pipeline', { source: fc.oneof(literal, template, reference, call), stages }),
    code,
    node('stream', { value: call }),
    group.map((members) => ({ kind: 'stream', value: { kind: 'leading-group', group: members, stages: [] } })),
    group.map((members) => ({ kind: 'leading-group', group: members, stages: [] })),
    node('with', { value: call, options: is([{ name: 'guards', value: { kind: 'literal', value: false } }]) }),
    node('when', { form: is('list'), entries: arms }),
    node('when', { subject: simple, form: is('match'), entries: matches }),
    node('for', {
      parallel: fc.constantFrom(undefined, {}),
      key: fc.constantFrom(undefined, 'k'),
      name: is('item'),
      fields: is([]),
      source: simpleHere,
      filter: fc.option(any, { nil: undefined }),
      body: fc.oneof(actions(depth - 1), any, valueBlock(depth - 1)),
    }),
    node('foreach', {
      call: call.filter((made) =>
        (made['steps'] as readonly { readonly args: readonly unknown[] }[]).some(({ args: given }) => given.length > 0),
      ),
    }),
    node('loop', { limit: number, until: fc.option(any, { nil: undefined }), body: block(depth - 1, 'loop') }),
  );
  return { simple: simpleHere, any: anyHere, stages };
}

function actions(depth: number): Gen {
  const { simple } = expressions(depth);
  return fc.oneof(
    node('show', { labels: is([]), value: simple.filter(isShown) }),
    node('log', { value: simple }),
    block(depth, 'body'),
    node('control', { word: fc.constantFrom('skip', 'done', 'continue') }),
  );
}

const isShown = ({ kind, value }: Tree): boolean =>
  kind === 'template' || kind === 'reference' || (kind === 'literal' && typeof value === 'string');

function block(depth: number, within: 'body' | 'loop'): Gen {
  if (depth < 0) return is({ kind: 'block', statements: [{ kind: 'log', value: { kind: 'literal', value: 1 } }] });
  const { any, simple } = expressions(depth);
  const bound = depth > 0 ? fc.oneof({ weight: 6, arbitrary: any }, valueBlock(depth - 1)) : any;
  const inner = fc.oneof(
    node('let', { name: variable, value: bound }),
    node('append-to', { name: variable, value: any }),
    node('var', { labels: fc.constantFrom([], ['pii']), name: variable, value: any }),
    statements(depth - 1),
    fc
      .constantFrom('sh', 'js', 'py')
      .map((lang) => ({ kind: 'run', isBare: true, value: { kind: 'code', language: lang, text: [{ kind: 'text', text: ' 1 ' }] } })),
  );
  const last =
    within === 'loop'
      ? node('control', { word: fc.constantFrom('done', 'continue'), value: simple }, ['value'])
      : fc.oneof(node('return', { labels: is([]), value: bound }), is({ kind: 'control', word: 'skip', isReturn: true }));
  return fc
    .tuple(list(inner, 3, 1), fc.option(last, { nil: undefined }))
    .map(([some, end]) => ({ kind: 'block', statements: end ? [...some, end] : some }));
}

/** A block that is bound or returned, with the stages and options that may follow it. */
function valueBlock(depth: number): Gen {
  const { any, stages } = expressions(Math.max(depth, 0));
  const plainBlock = fc
    .tuple(node('let', { name: variable, value: any }), list(statements(depth - 1), 1), node('return', { labels: is([]), value: any }))
    .map(([first, some, last]) => ({ kind: 'block', statements: [first, ...some, last] }));
  const streams = [{ name: 'stream', value: { kind: 'reference', name: 'a', steps: [] } }];
  const own = fc.oneof(plainBlock, node('with', { value: plainBlock, options: is(streams) }));
  return fc.oneof(own, node('pipeline', { source: own, stages }));
}

function statements(depth: number): Gen {
  const { simple, any } = expressions(Math.max(depth, 0));
  const call = node('reference', { name: fn, steps: list(simple).map((args) => [{ kind: 'apply', args }]) });
  return fc.oneof(
    node('show', { labels: is([]), value: simple.filter(isShown) }),
    node('log', { value: simple }),
    node('output', { value: simple, target }),
    node('append', { value: simple, target: node('file', { path: is([{ kind: 'text', text: 'l.txt' }]) }) }),
    node('call', { value: call }),
    node('call', { value: plain.map((source) => ({ kind: 'pipeline', source, stages: [{ kind: 'effect-stage', effect: 'show' }] })) }),
    node('run', {
      value: fc.oneof(
        call,
        language.map((lang) => ({ kind: 'code', language: lang, text: [{ kind: 'text', text: ' 1 ' }] })),
      ),
    }),
    node('if', { condition: any, holds: block(depth - 1, 'body'), otherwise: fc.option(block(depth - 1, 'body'), { nil: undefined }) }),
    node('for', {
      parallel: fc.constantFrom(undefined, {}),
      name: is('item'),
      fields: is([]),
      source: simple,
      body: block(depth - 1, 'body'),
    }),
    node('when', { form: is('inline'), entries: node('arm', { condition: simple, action: actions(depth - 1) }).map((arm) => [arm]) }),
    node('bail', { message: simple }),
  );
}

const depth = 2;
const body = fc.oneof(
  template,
  block(depth, 'body'),
  fc.constantFrom('js', 'sh').map((lang) => ({ kind: 'code', language: lang, text: [{ kind: 'text', text: ' 1 ' }] })),
  node('when', { form: is('list'), entries: is([{ kind: 'arm', condition: 'any', action: { kind: 'literal', value: 1 } }]) }),
  path('card.att', 'none.att').map((parts) => ({ kind: 'template-file', path: { kind: 'template', quote: 'double', parts } })),
);
const filter = fc.constantFrom(
  { kind: 'operation', name: 'show' },
  { kind: 'operation', name: 'exe' },
  { kind: 'function', path: ['f'] },
  { kind: 'label', label: 'pii' },
);
const imported = fc.oneof(
  fc
    .tuple(
      path('lib.mld', 'none.mld', 'data.json', 'notes.md'),
      list(
        fn.map((name) => ({ name })),
        2,
        1,
      ),
    )
    .map(([file, names]) => ({ source: { kind: 'path', path: file }, names })),
  fc
    .tuple(path('lib.mld', 'sub/more.mld', 'sub/deep', './sub/more', 'sub/none'), fc.uniqueArray(fn, { minLength: 1, maxLength: 2 }))
    .map(([file, names]) => ({ source: { kind: 'path', path: file }, names: names.map((name) => ({ name, alias: `${name}${name}` })) })),
  path('lib.mld', 'data.json', 'sub', 'sub/deep', 'sub/', 'empty').map((file) => ({ source: { kind: 'path', path: file }, alias: 'lib' })),
  is({ source: { kind: 'node', package: 'path' }, names: [{ name: 'sep' }] }),
  is({ source: { kind: 'provided', name: '@payload' }, names: [{ name: 'a' }] }),
);
const top = fc.oneof(
  {
    weight: 3,
    arbitrary: node('var', {
      labels: fc.constantFrom([], ['secret']),
      name: variable,
      value: fc.oneof({ weight: 6, arbitrary: expressions(depth).any }, valueBlock(depth)),
    }),
  },
  {
    weight: 3,
    arbitrary: node('exe', {
      labels: fc.constantFrom([], ['pii'], ['llm']),
      name: fn,
      params: list(variable.map((name) => ({ name }))),
      body,
      options: is([]),
    }),
  },
  { weight: 3, arbitrary: statements(depth) },
  node('guard', {
    name: is('watch'),
    timing: fc.constantFrom('before', 'after', 'always'),
    filter,
    rules: is([{ kind: 'rule', condition: 'any', action: { kind: 'allow' } }]),
  }),
  node('hook', { name: is('trace'), timing: fc.constantFrom('before', 'after'), filter, body: block(1, 'body') }),
  imported.map((members) => ({ kind: 'import', ...members })),
  node('export', {
    names: list(
      fn.map((name) => ({ name })),
      2,
      1,
    ),
  }),
  path('begin', 'end').map((parts) => ({ kind: 'checkpoint', name: { kind: 'template', quote: 'double', parts }, options: [] })),
);

export const anyScript: fc.Arbitrary<readonly Tree[]> = fc.array(top, { minLength: 1, maxLength: 4 });
