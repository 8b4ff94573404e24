/** Prints a tree of the language as source text, for tests. It knows the nodes that `any-script.ts` makes. */
export interface Tree {
  readonly kind: string;
  readonly [member: string]: unknown;
}

type Trees = readonly Tree[];

export function printScript(statements: Trees): string {
  return `${statements.map(statement).join('\n')}\n`;
}

/** Prints statements of Markdown mode, with prose in front of each. */
export function printMarkdown(statements: Trees): string {
  return statements.map((each) => `${PROSE}/${statement(each)}\n`).join('\n');
}

const PROSE = 'Prose with @a, <notes.md> and `ticks`:\n\n- a list [\n\n~~~mlld\nshow "no"\n~~~\n\n';

const text = (value: unknown): string => value as string;
const trees = (value: unknown): Trees => (value ?? []) as Trees;
const tree = (value: unknown): Tree => value as Tree;
const part = (value: unknown, print: (value: Tree) => string): string => (value === undefined ? '' : print(value as Tree));

function block(node: Tree): string {
  return `[\n${trees(node['statements']).map(statement).join('\n')}\n]`;
}

const statements: { readonly [kind: string]: (node: Tree) => string } = {
  var: (node) => `var ${labels(node)}@${text(node['name'])} = ${value(tree(node['value']))}`,
  let: (node) => `let @${text(node['name'])} = ${value(tree(node['value']))}`,
  'append-to': (node) => `@${text(node['name'])} += ${value(tree(node['value']))}`,
  exe: (node) =>
    `exe ${labels(node)}@${text(node['name'])}(${trees(node['params'])
      .map(({ name }) => text(name))
      .join(', ')}) = ${value(tree(node['body']))}`,
  show: (node) => `show ${value(tree(node['value']))}`,
  run: (node) => (node['isBare'] ? value(tree(node['value'])) : `run ${value(tree(node['value']))}`),
  call: (node) => value(tree(node['value'])),
  log: (node) => `log ${value(tree(node['value']))}`,
  output: (node) => `output ${operand(tree(node['value']))} to ${target(tree(node['target']))}`,
  append: (node) => `append ${operand(tree(node['value']))} to ${target(tree(node['target']))}`,
  if: (node) =>
    `if ${test(tree(node['condition']))} ${block(tree(node['then']))}${part(node['otherwise'], (other) => ` else ${block(other)}`)}`,
  return: (node) => `=> ${action(tree(node['value']))}`,
  control: (node) => `${node['isReturn'] ? '=> ' : ''}${text(node['word'])}${part(node['value'], (held) => ` ${operand(held)}`)}`,
  bail: (node) => `bail${part(node['message'], (held) => ` ${operand(held)}`)}`,
  guard: (node) =>
    `guard @${text(node['name'])} ${text(node['timing'])} ${filter(tree(node['filter']))} = when [ ${trees(node['rules']).map(rule).join('; ')} ]`,
  import: (node) => {
    const names = part(node['names'], () => `{ ${atNames(node)} } from `);
    return `import ${names}${source(tree(node['source']))}${part(node['alias'], () => ` as @${text(node['alias'])}`)}`;
  },
  export: (node) => `export { ${atNames(node)} }`,
  checkpoint: (node) => `checkpoint ${value(tree(node['name']))}`,
  hook: (node) => `hook @${text(node['name'])} ${text(node['timing'])} ${filter(tree(node['filter']))} = ${block(tree(node['body']))}`,
};

function statement(node: Tree): string {
  return (statements[node.kind] ?? value)(node);
}

function atNames(node: Tree): string {
  return trees(node['names'])
    .map(({ name, alias }) => `@${text(name)}${alias === undefined ? '' : ` as @${text(alias)}`}`)
    .join(', ');
}

function source(node: Tree): string {
  if (node.kind === 'node') return `node @${text(node['package'])}`;
  return node.kind === 'provided' ? text(node['name']) : `"${parts(node['path'])}"`;
}

function labels(node: Tree): string {
  const list = (node['labels'] ?? []) as readonly string[];
  return list.length === 0 ? '' : `${list.join(', ')} `;
}

function filter(node: Tree): string {
  const name = node['name'] ?? node['label'] ?? (node['path'] as readonly string[])[0];
  return `${{ operation: 'op:', function: '@', label: '' }[node.kind] ?? ''}${text(name)}`;
}

function rule(node: Tree): string {
  const { kind, text: reason } = tree(node['action']);
  return `${condition(node)} => ${kind}${reason === undefined ? '' : ` "${text(reason)}"`}`;
}

function target(node: Tree): string {
  return node.kind === 'file' ? `"${parts(node['path'])}"` : node.kind;
}

function beginsWithBlock({ kind, source, value: held }: Tree): boolean {
  if (kind === 'pipeline') return beginsWithBlock(tree(source));
  return kind === 'block' || (kind === 'with' && beginsWithBlock(tree(held)));
}

/** Prints what follows an arrow: a bracket in front would be a block. */
function action(node: Tree): string {
  if (beginsWithBlock(node)) return statement(node).replace('[', '[;'); // `[ @f() ]` would be an array
  const written = statement(node);
  return written.startsWith('[') ? `(${written})` : written;
}

function condition(node: Tree): string {
  if (node['condition'] === 'any') return '*';
  const held = tree(node['condition']);
  return held.kind === 'binary' && tree(held['left']).kind === 'subject'
    ? `${text(held['operator'])} ${operand(tree(held['right']))}`
    : test(held);
}

const values: { readonly [kind: string]: (node: Tree) => string } = {
  block,
  literal: (node) => (typeof node['value'] === 'string' ? `'${node['value']}'` : String(node['value'])),
  template: (node) => {
    const mark = node['quote'] === 'double' ? '"' : '`';
    return `${mark}${parts(node['parts'])}${mark}`;
  },
  load: (node) => {
    const section = part(node['section'], ({ include }) => ` # ${parts(trees(include)[0]?.['title'])}`);
    return `<${parts(node['path'])}${section}>${node['optional'] ? '?' : ''}`;
  },
  'template-file': (node) => `template ${value(tree(node['path']))}`,
  reference: (node) => `@${text(node['name'])}${trees(node['steps']).map(step).join('')}`,
  array: (node) =>
    `[${trees(node['elements'])
      .map((element) => `${operand(tree(element['value']))}${element['optional'] ? '?' : ''}`)
      .join(', ')}]`,
  object: (node) => `{ ${trees(node['entries']).map(entry).join(', ')} }`,
  unary: (node) => `!${operand(tree(node['operand']))}`,
  binary: (node) => `${operand(tree(node['left']))} ${text(node['operator'])} ${operand(tree(node['right']))}`,
  ternary: (node) => `${operand(tree(node['condition']))} ? ${operand(tree(node['then']))} : ${operand(tree(node['otherwise']))}`,
  code: (node) => `${text(node['language'])} {${parts(node['text'])}}`,
  pipeline: (node) => {
    const from = tree(node['source']);
    const stages = trees(node['stages'])
      .map((each) => ` | ${stage(each)}`)
      .join('');
    if (!beginsWithBlock(from)) return `${operand(from)}${stages}`;
    // The options of a block follow its stages.
    return from.kind === 'block' ? `${block(from)}${stages}` : `${block(tree(from['value']))}${stages}${options(from)}`;
  },
  stream: (node) => {
    const held = tree(node['value']);
    if (held.kind !== 'leading-group') return `stream ${value(held)}`;
    return trees(tree(held['group'])['members'])
      .map((member) => `stream ${stage(member)}`)
      .join(' || ');
  },
  'leading-group': (node) =>
    trees(tree(node['group'])['members'])
      .map((member) => `|| ${stage(member)}`)
      .join(' '),
  with: (node) => `${value(tree(node['value']))}${options(node)}`,
  when: (node) => {
    const entries = trees(node['entries']);
    const arms = entries.map((arm) => `${condition(arm)} => ${action(tree(arm['action']))}`);
    return node['form'] === 'inline'
      ? `when ${arms[0]}`
      : `when${part(node['subject'], (held) => ` ${test(held)}`)} [\n${arms.join('\n')}\n]`;
  },
  for: (node) => {
    const names = `${node['key'] === undefined ? '' : `@${text(node['key'])}, `}@${text(node['name'])}`;
    const filtered = part(node['filter'], (held) => ` when ${test(held)}`);
    return `for ${node['parallel'] ? 'parallel ' : ''}${names} in ${operand(tree(node['source']))}${filtered} => ${action(tree(node['body']))}`;
  },
  foreach: (node) => `foreach ${value(tree(node['call']))}`,
  loop: (node) =>
    `loop(${value(tree(node['limit']))})${part(node['until'], (held) => ` until ${test(held)}`)} ${block(tree(node['body']))}`,
};

function options(node: Tree): string {
  const written = trees(node['options']).map((option) => `${text(option['name'])}: ${value(tree(option['value']))}`);
  return ` with { ${written.join(', ')} }`;
}

function value(node: Tree): string {
  const print = values[node.kind];
  if (!print) throw new Error(`no printer for ${node.kind}`);
  return print(node);
}

const WITHOUT_BRACKETS = new Set(['literal', 'template', 'reference', 'array', 'object']);

function operand(node: Tree): string {
  return WITHOUT_BRACKETS.has(node.kind) ? value(node) : `(${value(node)})`;
}

/** Prints a condition: a bracket in front would be arms or a block. */
function test(node: Tree): string {
  return node.kind === 'array' ? `(${value(node)})` : operand(node);
}

function parts(list: unknown): string {
  return trees(list).map(templatePart).join('');
}

function templatePart(node: Tree): string {
  if (node.kind === 'text') return text(node['text']);
  if (node.kind !== 'loop-part') return value(tree(node['value']));
  const names = `${node['key'] === undefined ? '' : `@${text(node['key'])}, `}@${text(node['name'])}`;
  return `/for ${names} in ${operand(tree(node['source']))}\n${parts(node['body'])}/end`;
}

function step(node: Tree): string {
  const list = (): string => `(${trees(node['args']).map(value).join(', ')})`;
  switch (node.kind) {
    case 'field':
      return `.${text(node['name'])}`;
    case 'method':
      return `.${text(node['name'])}${list()}`;
    case 'apply':
      return list();
    default:
      return `[${value(tree(node['index']))}]`;
  }
}

function entry(node: Tree): string {
  if (node['spread']) return `...${value(tree(node['spread']))}`;
  return `"${text(node['key'])}"${node['optional'] ? '?' : ''}: ${operand(tree(node['value']))}`;
}

function stage(node: Tree): string {
  switch (node.kind) {
    case 'call-stage':
      return `@${text(node['name'])}${node['called'] ? `(${trees(node['args']).map(value).join(', ')})` : ''}`;
    case 'group-stage':
      return trees(node['members']).map(stage).join(' || ');
    default:
      return `${text(node['effect'])}${part(node['target'], (held) => `${node['effect'] === 'output' ? ' to' : ''} ${target(held)}`)}`;
  }
}
